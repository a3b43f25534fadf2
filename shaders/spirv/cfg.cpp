#include "shaders/spirv/cfg.h"

#include <algorithm>

namespace pumice::shader::spirv {

Cfg::Cfg(const FunctionDef& fn, const Successors& successors) {
  if (fn.blocks.empty()) failInvalid("a function without a body is called");
  blocks.resize(fn.blocks.size());
  for (uint32_t i = 0; i < blocks.size(); ++i) {
    blocks[i].def = &fn.blocks[i];
    labels_.emplace_back(fn.blocks[i].label, i);
  }
  std::sort(labels_.begin(), labels_.end());
  connect(successors);
  number();
  computeDominators();
  classify();
}

uint32_t Cfg::blockOf(uint32_t label) const {
  auto it = std::lower_bound(labels_.begin(), labels_.end(), std::pair<uint32_t, uint32_t>(label, 0));
  if (it == labels_.end() || it->first != label) failInvalid("branch to something that is no block of the function");
  return it->second;
}

void Cfg::connect(const Successors& successors) {
  std::vector<uint32_t> labels;
  for (CfgBlock& b : blocks) {
    labels.clear();
    successors(b.def->instrs.back(), labels);
    for (uint32_t label : labels) {
      const uint32_t s = blockOf(label);
      if (std::find(b.succs.begin(), b.succs.end(), s) == b.succs.end()) b.succs.push_back(s);
    }
    if (b.def->instrs.size() >= 2) {
      const Instr& merge = b.def->instrs[b.def->instrs.size() - 2];
      if (merge.op == spv::Op::OpSelectionMerge || merge.op == spv::Op::OpLoopMerge) {
        b.mergeBlock = blockOf(merge.operand(0));
        b.control = merge.operand(merge.op == spv::Op::OpLoopMerge ? 2 : 1);
      }
    }
  }
}

// Depth-first over real edges first: what only virtual edges reach does not exist. Then numbered with all edges.
void Cfg::number() {
  std::vector<bool> live(blocks.size());
  std::vector<uint32_t> work{0};
  live[0] = true;
  while (!work.empty()) {
    const uint32_t b = work.back();
    work.pop_back();
    for (uint32_t s : blocks[b].succs)
      if (!live[s]) {
        live[s] = true;
        work.push_back(s);
      }
  }
  for (CfgBlock& b : blocks)
    if (b.mergeBlock != kNoBlock && !live[b.mergeBlock]) b.mergeBlock = kNoBlock;

  // Iterative postorder; the merge edge is walked first, so that the merge block gets the latest number.
  std::vector<bool> seen(blocks.size());
  struct Frame {
    uint32_t block;
    uint32_t next;
  };
  std::vector<Frame> stack{{0, 0}};
  seen[0] = true;
  std::vector<uint32_t> postorder;
  while (!stack.empty()) {
    Frame& f = stack.back();
    const CfgBlock& b = blocks[f.block];
    const uint32_t total = static_cast<uint32_t>(b.succs.size()) + 1;
    if (f.next == total) {
      postorder.push_back(f.block);
      stack.pop_back();
      continue;
    }
    const uint32_t s = f.next == 0 ? b.mergeBlock : b.succs[b.succs.size() - f.next];
    ++f.next;
    if (s != kNoBlock && !seen[s]) {
      seen[s] = true;
      stack.push_back({s, 0});
    }
  }
  byOrder_.assign(postorder.rbegin(), postorder.rend());
  for (uint32_t i = 0; i < byOrder_.size(); ++i) blocks[byOrder_[i]].order = i;
  for (uint32_t b : byOrder_)
    for (uint32_t s : blocks[b].succs) blocks[s].preds.push_back(b);
}

// Cooper, Harvey and Kennedy's iteration over the numbered blocks.
void Cfg::computeDominators() {
  std::vector<std::vector<uint32_t>> preds(blocks.size());
  for (uint32_t b : byOrder_) {
    for (uint32_t s : blocks[b].succs) preds[s].push_back(b);
    if (blocks[b].mergeBlock != kNoBlock) preds[blocks[b].mergeBlock].push_back(b);
  }
  blocks[0].idom = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t b : byOrder_) {
      if (b == 0) continue;
      uint32_t best = kNoBlock;
      for (uint32_t p : preds[b]) {
        if (blocks[p].idom == kNoBlock) continue;
        if (best == kNoBlock) {
          best = p;
          continue;
        }
        uint32_t x = p, y = best;
        while (x != y) {
          while (blocks[x].order > blocks[y].order) x = blocks[x].idom;
          while (blocks[y].order > blocks[x].order) y = blocks[y].idom;
        }
        best = x;
      }
      if (best != blocks[b].idom) {
        blocks[b].idom = best;
        changed = true;
      }
    }
  }
  for (uint32_t b : byOrder_)
    if (b != 0) blocks[b].depth = blocks[blocks[b].idom].depth + 1;
}

bool Cfg::dominates(uint32_t a, uint32_t b) const {
  while (blocks[b].depth > blocks[a].depth) b = blocks[b].idom;
  return a == b;
}

bool Cfg::inLoop(uint32_t header, uint32_t block) const {
  return std::binary_search(blocks[header].loopBlocks.begin(), blocks[header].loopBlocks.end(), block);
}

void Cfg::classify() {
  for (uint32_t h : byOrder_) {
    std::vector<uint32_t> work;
    for (uint32_t p : blocks[h].preds) {
      if (blocks[p].order < blocks[h].order) continue;
      if (!dominates(h, p)) failInvalid("control flow is irreducible");
      work.push_back(p);
    }
    if (work.empty()) continue;
    blocks[h].isLoopHeader = true;
    // The natural loop: everything that reaches a back edge without passing the header.
    std::vector<bool> in(blocks.size());
    in[h] = true;
    while (!work.empty()) {
      const uint32_t b = work.back();
      work.pop_back();
      if (in[b]) continue;
      in[b] = true;
      for (uint32_t p : blocks[b].preds) work.push_back(p);
    }
    for (uint32_t b = 0; b < blocks.size(); ++b)
      if (in[b]) blocks[h].loopBlocks.push_back(b);
  }
  for (uint32_t b : byOrder_) {
    if (blocks[b].mergeBlock != kNoBlock && dominates(b, blocks[b].mergeBlock) && b != blocks[b].mergeBlock)
      blocks[blocks[b].mergeBlock].needsBlock = true;
    uint32_t forward = 0;
    for (uint32_t p : blocks[b].preds)
      if (blocks[p].order < blocks[b].order) ++forward;
    if (forward > 1) blocks[b].needsBlock = true;
  }
  blocks[0].needsBlock = false;
  for (auto it = byOrder_.rbegin(); it != byOrder_.rend(); ++it)
    if (blocks[*it].needsBlock) blocks[blocks[*it].idom].joins.push_back(*it);
}

}  // namespace pumice::shader::spirv
