// Upper bounds of unsigned values: what bounds checks and widening conversions need. One walk over the structured IR;
// conditions that guard a region (`i < 16`) count inside it, counted loops bound their parameters.
//
// The result refers to the function's values by id and is only valid while the function does not change.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "shaders/ir/ir.h"

namespace pumice::shader::passes {

class Ranges {
 public:
  explicit Ranges(const ir::Function& fn);

  // The largest unsigned value that `v` (an integer scalar) may have in an invocation that executes its definition.
  uint64_t max(const ir::Value* v) const;
  // The same in every lane of a vector, lanes that were masked off at the definition included: no guard and no loop
  // condition counts, since such lanes compute along with values that the guards exclude.
  uint64_t maxOfEveryLane(const ir::Value* v) const;
  // The same for the index operand of a memory operation, with all guards around it.
  uint64_t indexMax(const ir::Inst* memoryOp) const { return indexMax_.at(memoryOp); }
  // Upper bound of a loop's iterations; 0 = not known.
  uint64_t tripCount(const ir::Construct* loop) const { return trips_[loop->id]; }

 private:
  void region(const ir::Region& r);
  void construct(const ir::Construct* c);
  void inst(const ir::Inst* i);
  void loop(const ir::Construct* c);
  uint64_t eval(const ir::Inst* i) const;
  // Lowers bounds for as long as `condition` is known to be `truth`; the old bounds go to `undo`.
  void assume(const ir::Value* condition, bool truth, std::vector<std::pair<uint32_t, uint64_t>>& undo);
  void restore(std::vector<std::pair<uint32_t, uint64_t>>& undo);

  const ir::Function& fn_;
  bool guards_ = true;               // conditions count (see maxOfEveryLane)
  std::vector<uint64_t> max_;        // by value id
  std::vector<uint64_t> everyLane_;  // by value id
  std::vector<uint64_t> trips_;
  std::unordered_map<const ir::Inst*, uint64_t> indexMax_;
};

}  // namespace pumice::shader::passes
