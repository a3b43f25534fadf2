#include "shaders/random/generator.h"

#include <algorithm>

namespace pumice::shader::random {

using namespace ir;

Program generate(uint64_t seed, const GeneratorOptions& options) {
  return Generator(seed, options).run();
}

Generator::Generator(uint64_t seed, const GeneratorOptions& options) : seed_(seed), rng_(seed), options_(options) {}

Program Generator::run() {
  program_.seed = seed_;
  program_.fn = std::make_unique<Function>();
  fn_ = program_.fn.get();
  fn_->name = "random";
  b_ = std::make_unique<Builder>(*fn_);
  chooseShape();
  program_.contractable = rng_.chance(60);
  makeBuffers();
  prologue();

  // First the part with barriers, where nobody may leave alone; then a part without, where everybody may.
  budget_ = rng_.between(4, options_.maxStatements);
  barriers_ = rng_.chance(55) && sharedExchangeBytes_ != 0;
  targets_.push_back({fn_->body, nullptr, true, false});
  if (barriers_) {
    const uint32_t later = budget_ / 3;
    budget_ -= later;
    statements({true, 0}, ~0u);
    budget_ = later;
  }
  barriers_ = false;
  targets_[0].uniformOnly = false;
  statements({false, 0}, ~0u);
  storeOutput();
  observeAll({});
  b_->br(fn_->body);
  finishBuffers();
  return std::move(program_);
}

void Generator::chooseShape() {
  fn_->subgroupSize = rng_.oneOf({4u, 8u, 16u, 32u});
  if (options_.subgroupSize != 0) fn_->subgroupSize = options_.subgroupSize;

  const uint32_t limit = options_.maxInvocations;
  uint32_t n = 1;
  switch (rng_.below(10)) {
    case 0:
      n = rng_.between(1, 8);
      break;
    case 1:
    case 2:
      n = rng_.oneOf({16u, 32u, 64u, 128u, 256u, 512u, 1024u});
      break;
    case 3:
      n = rng_.between(1, 1024);
      break;
    case 4:
    case 5:
      n = rng_.between(1, 200);
      break;
    default:
      n = rng_.between(1, 70);
      break;
  }
  n = std::min(n, limit);
  // Split into x * y * z where it divides, else lengthen a line.
  uint32_t x = n, y = 1, z = 1;
  if (rng_.chance(50)) {
    y = rng_.oneOf({2u, 3u, 4u, 8u, 16u});
    z = rng_.chance(30) ? rng_.oneOf({2u, 3u, 4u}) : 1;
    while (y * z > n) (z > 1 ? z : y) /= 2;
    x = n / (y * z);
  }
  if (rng_.chance(15)) std::swap(x, z);
  fn_->localSize[0] = x;
  fn_->localSize[1] = y;
  fn_->localSize[2] = z;
  invocations_ = x * y * z;

  const uint32_t most = invocations_ > 256 ? 2 : invocations_ > 64 ? 3 : 6;
  for (uint32_t& count : program_.groupCount) count = 1;
  program_.groupCount[rng_.below(3)] = rng_.between(1, most);
  if (rng_.chance(30)) program_.groupCount[rng_.below(3)] = rng_.between(1, 3);
  if (rng_.chance(20)) {
    for (uint32_t& base : program_.groupBase) base = rng_.below(5);
  }
  const uint32_t groups = program_.groupCount[0] * program_.groupCount[1] * program_.groupCount[2];
  totalInvocations_ = groups * invocations_;
  program_.groupBegin = rng_.chance(20) ? rng_.below(groups) : 0;
  program_.groupEnd = groups;
  if (rng_.chance(10)) program_.groupEnd = rng_.between(static_cast<uint32_t>(program_.groupBegin) + 1, groups);
}

void Generator::prologue() {
  Value* wg[3];
  for (uint32_t c = 0; c < 3; c++) {
    wg[c] = b_->builtin(Op::WorkgroupId, c);
    remember(wg[c], true);
    if (program_.groupBase[c] != 0) wg[c] = b_->binary(Op::ISub, wg[c], u32(program_.groupBase[c]));
  }
  const auto times = [&](Value* v, uint32_t k) { return k == 1 ? v : b_->binary(Op::IMul, v, u32(k)); };
  Value* group = wg[0];
  if (program_.groupCount[1] * program_.groupCount[2] != 1) {
    group = add(times(wg[2], program_.groupCount[1]), wg[1]);
    group = add(times(group, program_.groupCount[0]), wg[0]);
  }
  Value* x = b_->builtin(Op::LocalInvocationId, 0);
  Value* y = b_->builtin(Op::LocalInvocationId, 1);
  Value* z = b_->builtin(Op::LocalInvocationId, 2);
  lane_ = b_->builtin(Op::LocalInvocationIndex);
  Value* composed = add(times(add(times(z, fn_->localSize[1]), y), fn_->localSize[0]), x);
  Value* groupBase = times(group, invocations_);
  own_ = add(groupBase, lane_);
  ownForms_ = {own_, add(groupBase, composed), add(add(groupBase, x), times(y, fn_->localSize[0]))};
  if (fn_->localSize[2] != 1) ownForms_.pop_back();

  for (Value* v :
       {x, y, z, lane_, own_, composed, b_->builtin(Op::SubgroupInvocationId), b_->builtin(Op::SubgroupId)}) {
    remember(v);
  }
  remember(group, true);
  remember(b_->builtin(Op::NumWorkgroups, rng_.below(3)), true);
  if (rng_.chance(30)) remember(b_->builtin(Op::NumSubgroups), true);
  if (rng_.chance(30)) remember(b_->builtin(Op::SubgroupSize), true);
  for (uint32_t slot = 0; slot < 5; slot++) refs_[slot] = reference(slot);
  pool_.references = {refs_[2], refs_[3]};
  loadPush(true);
  loadPush(true);
  loadInput();
  loadInput();
}

uint32_t Generator::someStatements() {
  return rng_.between(1, 5);
}

void Generator::statements(Flow flow, uint32_t count) {
  for (; count > 0 && budget_ > 0; count--) statement(flow);
}

void Generator::statement(Flow flow) {
  budget_--;
  const bool mayNest = flow.depth < 5;
  const uint32_t dice = rng_.below(100);
  if (dice < 9 && mayNest) return ifStatement(flow);
  if (dice < 15 && mayNest && flow.depth < 4) return loopStatement(flow);
  if (dice < 18 && mayNest) return switchStatement(flow);
  if (dice < 22 && mayNest) return blockStatement(flow);
  if (dice < 29) return loadInput();
  if (dice < 31) return loadPush(rng_.chance(70));
  if (dice < 37) return storeOutput();
  if (dice < 40) return reloadOutput();
  if (dice < 43) return commonAtomic(false);
  if (dice < 45) return ownAtomic();
  if (dice < 51) return privateArray();
  if (dice < 60) return subgroupOperation();
  if (dice < 69 && flow.isUniform && barriers_) {
    const uint32_t kind = rng_.below(10);
    return kind < 6 ? sharedExchange() : kind < 8 ? sharedAccumulate(flow) : sharedReduction();
  }
  if (dice < 71) return accumulatingLoop(flow.isUniform && rng_.chance(70));
  if (dice < 72 && flow.isUniform) return disguisedUniform();
  expression(flow);
}

// -- scopes

Generator::PoolMark Generator::mark() const {
  PoolMark m{};
  for (size_t k = 0; k < kKinds; k++) m.scalars[k] = pool_.scalars[k].size();
  m.tuples = pool_.tuples.size();
  m.references = pool_.references.size();
  return m;
}

void Generator::release(const PoolMark& m) {
  for (size_t k = 0; k < kKinds; k++) pool_.scalars[k].resize(m.scalars[k]);
  pool_.tuples.resize(m.tuples);
  pool_.references.resize(m.references);
}

// -- branches

void Generator::addResults(Construct* c, bool uniformValues) {
  const uint32_t n = rng_.chance(30) ? 0 : rng_.between(1, 3);
  for (uint32_t i = 0; i < n; i++) {
    Type t = someType();
    if (!uniformValues && rng_.chance(4)) t = kBufferRef;
    b_->result(c, t);
  }
}

void Generator::publishResults(Construct* c, bool uniformValues) {
  for (Value* r : c->results) remember(r, uniformValues);
}

void Generator::jump(size_t index) {
  const Target& t = targets_[index];
  const bool isLoop = t.construct->shape == Construct::Shape::kLoop;
  std::vector<Value*> operands;
  const auto& to = isLoop ? t.construct->params : t.construct->results;
  for (size_t i = 0; i < to.size(); i++) {
    operands.push_back(isLoop && i == 0 ? add(t.counter, u32(1)) : pickType(to[i]->type, t.uniformValues));
  }
  b_->inst(Op::Br, kVoid, operands)->target = t.construct;
}

void Generator::endRegion(Flow flow, size_t target) {
  if (flow.depth > 0 && rng_.chance(15)) {
    const size_t other = rng_.below(static_cast<uint32_t>(targets_.size()));
    if (flow.isUniform || !targets_[other].uniformOnly) {
      if (other == 0 && !flow.isUniform && rng_.chance(5)) return b_->unreachable();
      // Leaving the whole function early makes most programs boring: seldom.
      if (other != 0 || rng_.chance(30)) {
        if (rng_.chance(50)) storeOutput();
        return jump(other);
      }
    }
  }
  jump(target);
}

// -- constructs

void Generator::ifStatement(Flow flow) {
  const bool uniform = flow.isUniform && rng_.chance(50);
  Value* condition = !uniform && rng_.chance(10) ? b_->binary(Op::ULt, own_, u32(rng_.below(totalInvocations_ + 3)))
                                                 : boolExpression(uniform || rng_.chance(10));
  Construct* c = b_->openIf(condition);
  c->flatten = rng_.chance(5);
  const bool uniformValues = uniform && rng_.chance(50);
  addResults(c, uniformValues);
  targets_.push_back({c, nullptr, uniform, uniformValues});
  const size_t self = targets_.size() - 1;
  const Flow inside{uniform, flow.depth + 1};
  const PoolMark m = mark();
  statements(inside, someStatements());
  if (rng_.chance(40)) observeAll(m);
  endRegion(inside, self);
  release(m);
  b_->openElse();
  if (rng_.chance(50)) statements(inside, someStatements());
  if (rng_.chance(20)) observeAll(m);
  endRegion(inside, self);
  release(m);
  targets_.pop_back();
  b_->close();
  publishResults(c, uniformValues);
}

void Generator::blockStatement(Flow flow) {
  const bool uniform = flow.isUniform && rng_.chance(60);
  Construct* c = b_->openBlock();
  const bool uniformValues = uniform && rng_.chance(40);
  addResults(c, uniformValues);
  targets_.push_back({c, nullptr, uniform, uniformValues});
  const Flow inside{uniform, flow.depth + 1};
  const PoolMark m = mark();
  statements(inside, someStatements() + 2);
  if (rng_.chance(30)) observeAll(m);
  endRegion(inside, targets_.size() - 1);
  release(m);
  targets_.pop_back();
  b_->close();
  publishResults(c, uniformValues);
}

void Generator::loopStatement(Flow flow) {
  const bool uniform = flow.isUniform && rng_.chance(60);
  // Trip counts: few, as loops nest; seldom past the 64 iterations between two looks at the cancel word.
  Value* bound = nullptr;
  if (flow.depth == 0 && invocations_ <= 64 && rng_.chance(8)) {
    bound = u32(rng_.between(60, 140));
  } else if (uniform || rng_.chance(30)) {
    bound = rng_.chance(60) ? u32(rng_.below(6)) : smallIndex(6, true);
  } else {
    bound = smallIndex(rng_.between(2, 7), false);
  }

  Construct* exit = b_->openBlock();
  const bool uniformValues = uniform && rng_.chance(40);
  addResults(exit, uniformValues);
  std::vector<Value*> initial(rng_.below(4));
  for (Value*& v : initial) v = pickType(someType(), uniformValues);
  Construct* loop = b_->openLoop({u32(0)});
  for (Value* v : initial) fn_->addParam(loop, v);
  loop->unroll = rng_.chance(10);
  loop->dontUnroll = rng_.chance(10);
  targets_.push_back({exit, nullptr, uniform, uniformValues});
  const size_t exitTarget = targets_.size() - 1;
  targets_.push_back({loop, loop->params[0], uniform, uniformValues});
  const PoolMark m = mark();
  // The counter is uniform too where only uniform branches lead to the next iteration.
  remember(loop->params[0], uniform);
  for (uint32_t i = 1; i < loop->params.size(); i++) remember(loop->params[i], uniformValues);
  loopBody({uniform, flow.depth + 1}, exitTarget + 1, exitTarget, bound, rng_.below(3));
  release(m);
  targets_.pop_back();
  targets_.pop_back();
  b_->close();  // the loop
  b_->unreachable();
  b_->close();  // the block around it
  publishResults(exit, uniformValues);
}

void Generator::loopBody(Flow inside, size_t loopTarget, size_t exitTarget, Value* bound, uint32_t shape) {
  Value* counter = targets_[loopTarget].counter;
  const PoolMark m = mark();
  switch (shape) {
    case 0:  // while (i < bound) { ... }
      b_->openIf(b_->binary(Op::ULt, counter, bound));
      statements(inside, someStatements());
      if (rng_.chance(40)) observeAll(m);
      endRegion(inside, loopTarget);
      release(m);
      b_->openElse();
      jump(exitTarget);
      b_->close();
      return b_->unreachable();
    case 1: {  // do { ... } while (i < bound && ...)
      statements(inside, someStatements());
      Value* again = b_->binary(Op::ULt, counter, bound);
      if (rng_.chance(40)) again = b_->binary(Op::And, again, pick(Kind::kBool, inside.isUniform));
      b_->openIf(again);
      jump(loopTarget);
      b_->openElse();
      jump(exitTarget);
      b_->close();
      return b_->unreachable();
    }
    default: {  // while (true) { ...; if (i >= bound) break; ... }
      statements(inside, someStatements());
      Construct* test = b_->openIf(b_->binary(Op::ULe, bound, counter));
      jump(exitTarget);
      b_->openElse();
      b_->br(test);
      b_->close();
      statements(inside, someStatements());
      return endRegion(inside, loopTarget);
    }
  }
}

void Generator::switchStatement(Flow flow) {
  const bool uniform = flow.isUniform && rng_.chance(50);
  const uint32_t cases = rng_.between(1, 5);  // the last is the default
  const Kind kind = rng_.chance(70) ? Kind::kI32 : someIntKind();
  Value* selector = pick(kind, uniform);
  if (rng_.chance(80)) selector = b_->binary(Op::And, selector, fn_->constant({kind, 1}, 7));

  Construct* merge = b_->openBlock();
  const bool uniformValues = uniform && rng_.chance(40);
  addResults(merge, uniformValues);
  targets_.push_back({merge, nullptr, uniform, uniformValues});
  const size_t mergeTarget = targets_.size() - 1;
  std::vector<Construct*> blocks(cases);
  for (uint32_t i = cases; i-- > 0;) {  // case 0's block is the innermost
    blocks[i] = b_->openBlock();
    targets_.push_back({blocks[i], nullptr, uniform, false});
  }
  std::vector<SwitchCase> table;
  const uint32_t entries = rng_.between(0, 6);
  const uint32_t first = rng_.chance(80) ? 0 : 5;
  for (uint32_t i = 0; i < entries; i++) table.push_back({first + i, blocks[rng_.below(cases)]});
  table.push_back({0, blocks[rng_.chance(70) ? cases - 1 : rng_.below(cases)]});
  b_->brTable(selector, table);
  b_->close();
  targets_.pop_back();
  // Behind case i's block stands its code, inside the block of case i + 1: to fall through is to branch there.
  const Flow inside{uniform, flow.depth + 1};
  for (uint32_t i = 0; i < cases; i++) {
    const PoolMark m = mark();
    statements(inside, rng_.below(3));
    if (rng_.chance(30)) observeAll(m);
    const bool falls = i + 1 < cases && rng_.chance(40);
    endRegion(inside, falls ? targets_.size() - 1 : mergeTarget);
    release(m);
    b_->close();
    targets_.pop_back();
  }
  publishResults(merge, uniformValues);
}

}  // namespace pumice::shader::random
