// Control-flow graph of one SPIR-V function and the dominator tree that the structuring walks.
//
// Besides the real edges there is a virtual edge from every header to its declared merge block: it makes the merge
// block a child of the header in the tree, so that everything from the header on has come together again before the
// code behind the construct runs, even where only one real edge leads there (the `break` of a loop).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "shaders/spirv/module.h"

namespace pumice::shader::spirv {

inline constexpr uint32_t kNoBlock = ~0u;

struct CfgBlock {
  const BlockDef* def = nullptr;
  std::vector<uint32_t> succs;       // real, distinct
  std::vector<uint32_t> preds;       // real and reachable, distinct
  uint32_t order = kNoBlock;         // reverse postorder; kNoBlock: unreachable
  uint32_t idom = kNoBlock;          // with the virtual edges
  uint32_t depth = 0;                // in the dominator tree
  uint32_t mergeBlock = kNoBlock;    // declared by OpSelectionMerge or OpLoopMerge, if reachable
  uint32_t control = 0;              // selection or loop control mask
  bool isLoopHeader = false;         // has a back edge
  bool needsBlock = false;           // several forward edges come in, or it is a declared merge block
  std::vector<uint32_t> joins;       // children in the tree with needsBlock, latest in order first
  std::vector<uint32_t> loopBlocks;  // isLoopHeader: blocks of the natural loop, sorted
};

class Cfg {
 public:
  // The labels that a terminator may go on to, in any order and with repetitions. The caller leaves out edges that a
  // constant condition rules out.
  using Successors = std::function<void(const Instr& terminator, std::vector<uint32_t>& labels)>;

  Cfg(const FunctionDef& fn, const Successors& successors);

  std::vector<CfgBlock> blocks;  // blocks[0] is the entry
  uint32_t blockOf(uint32_t label) const;
  bool dominates(uint32_t a, uint32_t b) const;
  bool inLoop(uint32_t header, uint32_t block) const;

 private:
  void connect(const Successors& successors);
  void number();
  void computeDominators();
  void classify();

  std::vector<std::pair<uint32_t, uint32_t>> labels_;  // label -> block, sorted
  std::vector<uint32_t> byOrder_;
};

}  // namespace pumice::shader::spirv
