// Decisions that are made before any code is emitted: lanes, gangs and the cost estimate.
#pragma once

#include "shaders/codegen/target_features.h"
#include "shaders/compiler.h"
#include "shaders/ir/ir.h"
#include "shaders/passes/uniformity.h"

namespace pumice::shader::codegen {

struct Plan {
  passes::GangGeometry geometry;
  uint32_t invocations = 1;  // N, of a workgroup
  bool hasBarrier = false;   // a workgroup barrier

  // Lanes past the workgroup's end exist in the last part (k divides the number of parts, so never a whole part).
  bool partial() const { return invocations % geometry.lanes != 0; }
};

// P = max(S, V). k divides the number of parts; as large as registers and a code size budget allow, or
// target.gangVectors (rounded down to a divisor).
Plan makePlan(const ir::Function& fn, const passes::Ranges& ranges, const TargetOptions& target);

// Rough time of one workgroup, at least 1.
uint32_t estimateGroupCost_ns(const ir::Function& fn, const passes::Ranges& ranges,
                              const passes::Uniformity& uniformity, const Plan& plan, const TargetFeatures& features);

}  // namespace pumice::shader::codegen
