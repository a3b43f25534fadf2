#include "shaders/codegen/object_emit.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/CodeGen/MachineModuleInfo.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/RegAllocRegistry.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/CodeGen.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Target/TargetOptions.h>
#include <llvm/TargetParser/Triple.h>

#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace pumice::shader::codegen {
namespace {

constexpr const char* kTriple = "x86_64-unknown-linux-gnu";

// Thrown out of LLVM by the handlers below. LLVM is built without exception support but with unwind tables: its frames
// unwind, its destructors do not run. Hence what the call used is leaked by the caller.
struct LlvmFatalError {
  std::string reason;
};

void onFatalError(void*, const char* reason, bool) {
  throw LlvmFatalError{reason != nullptr ? reason : "unknown"};
}

void onBadAlloc(void*, const char*, bool) {
  throw std::bad_alloc();
}

// Errors that LLVM reports through the context (its default would print them and end the process).
void onDiagnostic(const llvm::DiagnosticInfo* info, void* text) {
  if (info->getSeverity() != llvm::DS_Error) return;
  llvm::raw_string_ostream stream(*static_cast<std::string*>(text));
  llvm::DiagnosticPrinterRawOStream printer(stream);
  info->print(printer);
}

// The tables are per target, not per compile.
std::unique_ptr<llvm::TargetMachine> createTargetMachine(const TargetFeatures& features, Tier tier) {
  initialiseLlvm();
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(kTriple, error);
  if (target == nullptr) return nullptr;
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  options.NoTrapAfterNoreturn = true;
  options.EmitAddrsig = false;
  options.FunctionSections = false;
  options.DataSections = false;
  // The baseline; all else comes from the feature list.
  const char* cpu = "x86-64";
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      kTriple, cpu, features.llvmFeatures, options, llvm::Reloc::PIC_, llvm::CodeModel::Small,
      tier == Tier::kQuick ? llvm::CodeGenOptLevel::None : llvm::CodeGenOptLevel::Less));
}

// The tier whose passes this thread is adding: LLVM asks for a register allocator through a plain function.
thread_local Tier passesTier = Tier::kBetter;

llvm::FunctionPass* createRegisterAllocator() {
  // The greedy allocator splits live ranges by region: better code for a fifth of the quick tier's time.
  return passesTier == Tier::kQuick ? llvm::createBasicRegisterAllocator() : llvm::createGreedyRegisterAllocator();
}

// Target machines. One serves one compile at a time and rests in between; what it keeps (the tables of legal types and
// operations of a set of features) takes longer to make than the code of a small function.
struct Machine {
  std::unique_ptr<llvm::TargetMachine> target;
  std::string features;
  Tier tier;
};

class MachinePool {
 public:
  // Never destroyed, as nothing in this library is.
  static MachinePool& instance() {
    static auto* const pool = new MachinePool;
    return *pool;
  }

  Machine take(const TargetFeatures& features, Tier tier) {
    {
      const std::lock_guard lock(mutex_);
      for (Machine& m : rested_) {
        if (m.tier != tier || m.features != features.llvmFeatures) continue;
        Machine machine = std::move(m);
        m = std::move(rested_.back());
        rested_.pop_back();
        return machine;
      }
    }
    return {createTargetMachine(features, tier), features.llvmFeatures, tier};
  }
  void giveBack(Machine machine) noexcept {
    const std::lock_guard lock(mutex_);
    if (rested_.size() < rested_.capacity()) rested_.push_back(std::move(machine));
  }

 private:
  MachinePool() { rested_.reserve(16); }

  std::mutex mutex_;
  std::vector<Machine> rested_;
};

// What serves languages, debuggers and hardening that shaders have no part in. Each costs little, but the analyses that
// they ask for add up to a tenth of a small function's time.
const llvm::AnalysisID kUselessPasses[] = {
    &llvm::GCLoweringID,
    &llvm::ShadowStackGCLoweringID,
    &llvm::GCMachineCodeAnalysisID,
    &llvm::FEntryInserterID,
    &llvm::XRayInstrumentationID,
    &llvm::PatchableFunctionID,
    &llvm::StackMapLivenessID,
    &llvm::LiveDebugValuesID,
    &llvm::RemoveRedundantDebugValuesID,
    &llvm::MachineSanitizerBinaryMetadataID,
    &llvm::StackFrameLayoutAnalysisPassID,
    &llvm::FixupStatepointCallerSavedID,
    &llvm::FuncletLayoutID,
};

// Runs the code generator; throws LlvmFatalError.
bool emitFile(llvm::Module& module, const TargetFeatures& features, Tier tier, llvm::CodeGenFileType type,
              llvm::raw_pwrite_stream& stream, std::string& message) {
  Machine machine = MachinePool::instance().take(features, tier);
  if (machine.target == nullptr) {
    message = "LLVM has no x86-64 target";
    return false;
  }
  passesTier = tier;
  llvm::legacy::PassManager passes;
  auto& target = static_cast<llvm::LLVMTargetMachine&>(*machine.target);
  auto* info = new llvm::MachineModuleInfoWrapperPass(&target);
  llvm::TargetPassConfig* config = target.createPassConfig(passes);
  config->setDisableVerify(true);
  for (const llvm::AnalysisID id : kUselessPasses) config->disablePass(id);
  passes.add(config);
  passes.add(info);
  if (config->addISelPasses()) {
    message = "LLVM cannot select instructions";
    return false;
  }
  config->addMachinePasses();
  config->setInitialized();
  if (target.addAsmPrinter(passes, stream, nullptr, type, info->getMMI().getContext())) {
    message = "LLVM cannot emit this kind of file";
    return false;
  }
  passes.add(llvm::createFreeMachineFunctionPass());
  passes.run(module);
  MachinePool::instance().giveBack(std::move(machine));
  return true;
}

}  // namespace

void initialiseLlvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    // Loop strength reduction takes a tenth of the time and gains nothing: addresses are affine from the start.
    auto& options = llvm::cl::getRegisteredOptions();
    if (const auto it = options.find("disable-lsr"); it != options.end())
      static_cast<llvm::cl::opt<bool>*>(it->second)->setValue(true);
    // The quick tier compiles at level None, but with live intervals (the allocator that goes without makes code half
    // as fast), and selects whole blocks: selection instruction by instruction cannot do vectors.
    const auto set = [&](const char* name, llvm::cl::boolOrDefault value) {
      if (const auto it = options.find(name); it != options.end())
        static_cast<llvm::cl::opt<llvm::cl::boolOrDefault>*>(it->second)->setValue(value);
    };
    set("optimize-regalloc", llvm::cl::BOU_TRUE);
    set("fast-isel", llvm::cl::BOU_FALSE);
    llvm::RegisterRegAlloc::setDefault(createRegisterAllocator);
    llvm::install_fatal_error_handler(onFatalError);
    llvm::install_bad_alloc_error_handler(onBadAlloc);
  });
}

void prepareModule(llvm::Module& module, const TargetFeatures& features) {
  module.setTargetTriple(kTriple);
  // The layout follows from the triple alone.
  static const auto* const layout = new std::string([&features] {
    const auto machine = createTargetMachine(features, Tier::kBetter);
    return machine != nullptr ? machine->createDataLayout().getStringRepresentation() : std::string{};
  }());
  module.setDataLayout(*layout);
  module.setPICLevel(llvm::PICLevel::BigPIC);
}

void setFunctionAttributes(llvm::Function& function, const TargetFeatures& features, Tier tier) {
  const std::string bits = std::to_string(features.vectorLanes * 32);
  function.addFnAttr("target-features", features.llvmFeatures);
  function.addFnAttr("prefer-vector-width", bits);
  function.addFnAttr("min-legal-vector-width", bits);
  // Which scheduling model and instruction preferences a width gets; the same on every machine.
  function.addFnAttr("tune-cpu", features.avx512 ? "znver4" : features.avx2 ? "haswell" : "x86-64");
  function.addFnAttr("no-trapping-math", "true");
  function.addFnAttr("no-builtins");
  function.addFnAttr("frame-pointer", "none");
  function.addFnAttr(llvm::Attribute::NoUnwind);
  if (tier == Tier::kQuick) {
    function.addFnAttr(llvm::Attribute::NoInline);
    function.addFnAttr(llvm::Attribute::OptimizeNone);
  }
}

ObjectResult emitObject(llvm::Module& module, const TargetFeatures& features, Tier tier, bool* llvmBroken) {
  ObjectResult result;
  *llvmBroken = false;
  try {
#ifndef NDEBUG
    llvm::raw_string_ostream verifierText(result.message);
    if (llvm::verifyModule(module, &verifierText)) return result;
    result.message.clear();
#endif
    std::string errors;
    module.getContext().setDiagnosticHandlerCallBack(onDiagnostic, &errors);
    llvm::SmallVector<char, 0> bytes;
    llvm::raw_svector_ostream stream(bytes);
    if (!emitFile(module, features, tier, llvm::CodeGenFileType::ObjectFile, stream, result.message)) return result;
    module.getContext().setDiagnosticHandlerCallBack(nullptr);
    if (!errors.empty()) {
      result.message = "LLVM: " + errors;
      return result;
    }
    result.elf.resize(bytes.size());
    std::memcpy(result.elf.data(), bytes.data(), bytes.size());
    result.status = CompileStatus::kOk;
  } catch (const LlvmFatalError& error) {
    result.message = "LLVM: " + error.reason;
    *llvmBroken = true;
  } catch (const std::bad_alloc&) {
    result.status = CompileStatus::kOutOfHostMemory;
    *llvmBroken = true;
  }
  return result;
}

std::string emitAssembly(llvm::Module& module, const TargetFeatures& features, Tier tier) {
  std::string message;
  llvm::SmallString<0> text;
  try {
    llvm::raw_svector_ostream stream(text);
    if (!emitFile(module, features, tier, llvm::CodeGenFileType::AssemblyFile, stream, message)) return message;
  } catch (const LlvmFatalError& error) {
    return "LLVM: " + error.reason;
  }
  return std::string(text);
}

}  // namespace pumice::shader::codegen
