// generateCode: from the IR to an object file.
#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/PassInstrumentation.h>
#include <llvm/IR/PassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include <cstdlib>
#include <memory>

#include "shaders/codegen/codegen.h"
#include "shaders/codegen/generator.h"
#include "shaders/codegen/object_emit.h"

namespace pumice::shader::codegen {

namespace {

// A loop over the gangs whose body turned out to compute nothing: one block that has no effect and hands nothing on. It
// ends by construction, as a loop that may not end reads the cancel word, which counts as an effect.
void skipEmptyLoops(llvm::Function& fn) {
  for (llvm::BasicBlock& block : fn) {
    auto* branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
    if (!branch || !branch->isConditional()) continue;
    const unsigned out = branch->getSuccessor(0) == &block ? 1 : 0;
    if (branch->getSuccessor(1 - out) != &block || branch->getSuccessor(out) == &block) continue;
    const bool isEmpty = llvm::all_of(block, [&](llvm::Instruction& i) {
      if (&i == branch) return true;
      return !i.mayHaveSideEffects() && llvm::all_of(i.users(), [&](const llvm::User* user) {
        return llvm::cast<llvm::Instruction>(user)->getParent() == &block;
      });
    });
    if (!isEmpty) continue;
    llvm::BasicBlock* next = branch->getSuccessor(out);
    block.removePredecessor(&block);
    llvm::BranchInst::Create(next, branch->getIterator());
    branch->eraseFromParent();
  }
}

// What LLVM does to the function before instruction selection: variables become phis, straight lines become one block,
// repeated address arithmetic is shared. Anything more costs more than it gains on code that is SSA from the start.
void optimise(llvm::Function& fn, llvm::ArrayRef<llvm::AllocaInst*> slots) {
  llvm::removeUnreachableBlocks(fn);
  {
    llvm::DominatorTree dominators(fn);
    llvm::PromoteMemToReg(slots, dominators);
  }
  skipEmptyLoops(fn);
  // Selection costs by the block: those that only lead on go.
  for (auto it = fn.begin(); it != fn.end();) {
    llvm::BasicBlock* block = &*it++;
    if (llvm::MergeBlockIntoPredecessor(block) || block->isEntryBlock()) continue;
    const auto* branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());
    if (branch && branch->isUnconditional() && block->getFirstNonPHIOrDbg() == branch)
      llvm::TryToSimplifyUncondBranchFromEmptyBlock(block);
  }
  llvm::FunctionAnalysisManager functions;
  functions.registerPass([] { return llvm::PassInstrumentationAnalysis(); });
  functions.registerPass([] { return llvm::AssumptionAnalysis(); });
  functions.registerPass([] { return llvm::DominatorTreeAnalysis(); });
  functions.registerPass([] { return llvm::TargetIRAnalysis(); });
  functions.registerPass([] { return llvm::TargetLibraryAnalysis(); });
  llvm::EarlyCSEPass(/*UseMemorySSA=*/false).run(fn, functions);
}

struct LlvmModule {
  std::unique_ptr<llvm::LLVMContext> context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> module;
};

struct Built {
  LlvmModule llvm;
  ComputeCodeInfo info{};
  TargetFeatures features;
  std::string fault;
};

Built build(const ir::Function& fn, std::span<const abi::BindingSlot> bindings, const TargetOptions& options,
            const FragmentKey* key) {
  Built built;
  const TargetOptions target = resolveTarget(options);
  built.features = targetFeatures(target.vectorLanes);
  const passes::Ranges ranges(fn);
  const Plan plan = makePlan(fn, ranges, target);
  const passes::Uniformity uniformity(fn, ranges, plan.geometry);
  built.llvm.context->setDiscardValueNames(true);
  built.llvm.module = std::make_unique<llvm::Module>("pumice", *built.llvm.context);
  llvm::Module& module = *built.llvm.module;
  prepareModule(module, built.features);
  Generator generator(fn, bindings, target, built.features, plan, ranges, uniformity, key, module);
  llvm::Function* function = generator.run();
  setFunctionAttributes(*function, built.features, target.tier);
#ifndef NDEBUG
  llvm::raw_string_ostream text(built.fault);
  if (llvm::verifyFunction(*function, &text)) return built;
  built.fault.clear();
#endif
  optimise(*function, generator.slots());

  for (int d = 0; d < 3; ++d) built.info.localSize[d] = fn.localSize[d];
  built.info.subgroupSize = fn.subgroupSize;
  built.info.sharedBytes = fn.sharedBytes;
  built.info.frameBytes = generator.frameBytes();
  built.info.groupCost_ns = estimateGroupCost_ns(fn, ranges, uniformity, plan, built.features);
  built.info.flags = target.tier == Tier::kQuick ? kCodeIsQuick : 0;
  return built;
}

}  // namespace

TargetOptions resolveTarget(TargetOptions options) {
  if (options.vectorLanes == 0) options.vectorLanes = hostVectorLanes();
  return options;
}

CompileResult generateCode(const ir::Function& fn, std::span<const abi::BindingSlot> bindings,
                           const TargetOptions& target, const FragmentKey* key) {
  CompileResult result;
  Built built = build(fn, bindings, target, key);
  if (!built.fault.empty()) {
    result.message = "generated code is malformed: " + built.fault;
    return result;
  }
  bool broken = false;
  ObjectResult object = emitObject(*built.llvm.module, built.features, target.tier, &broken);
  if (broken) {
    // In an unknown state: leaked, not destroyed.
    (void)built.llvm.module.release();
    (void)built.llvm.context.release();
  }
  result.status = object.status;
  result.message = std::move(object.message);
  result.object.info = built.info;
  result.object.elf = std::move(object.elf);
  return result;
}

std::string describeCode(const ir::Function& fn, std::span<const abi::BindingSlot> bindings,
                         const TargetOptions& target, CodeText kind, const FragmentKey* key) {
  Built built = build(fn, bindings, target, key);
  if (!built.fault.empty()) return built.fault;
  if (kind == CodeText::kAssembly) return emitAssembly(*built.llvm.module, built.features, target.tier);
  std::string text;
  llvm::raw_string_ostream stream(text);
  built.llvm.module->print(stream, nullptr);
  return text;
}

}  // namespace pumice::shader::codegen
