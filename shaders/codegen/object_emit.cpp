#include "shaders/codegen/object_emit.h"

#include <llvm/ADT/SmallVector.h>
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

// The tables are per target, not per compile; the machine itself is cheap (0.06 ms) but not thread safe.
std::unique_ptr<llvm::TargetMachine> createTargetMachine(const TargetFeatures& features) {
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
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(kTriple, cpu, features.llvmFeatures, options,
                                                                          llvm::Reloc::PIC_, llvm::CodeModel::Small,
                                                                          llvm::CodeGenOptLevel::Less));
}

// Runs the code generator; throws LlvmFatalError.
bool emitFile(llvm::Module& module, const TargetFeatures& features, llvm::CodeGenFileType type,
              llvm::raw_pwrite_stream& stream, std::string& message) {
  const std::unique_ptr<llvm::TargetMachine> machine = createTargetMachine(features);
  if (machine == nullptr) {
    message = "LLVM has no x86-64 target";
    return false;
  }
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, type, /*DisableVerify=*/true)) {
    message = "LLVM cannot emit this kind of file";
    return false;
  }
  passes.run(module);
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
    llvm::install_fatal_error_handler(onFatalError);
    llvm::install_bad_alloc_error_handler(onBadAlloc);
  });
}

void prepareModule(llvm::Module& module, const TargetFeatures& features) {
  module.setTargetTriple(kTriple);
  // The layout follows from the triple alone.
  static const auto* const layout = new std::string([&features] {
    const auto machine = createTargetMachine(features);
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

ObjectResult emitObject(llvm::Module& module, const TargetFeatures& features, bool* llvmBroken) {
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
    if (!emitFile(module, features, llvm::CodeGenFileType::ObjectFile, stream, result.message)) return result;
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

std::string emitAssembly(llvm::Module& module, const TargetFeatures& features) {
  std::string message;
  llvm::SmallString<0> text;
  try {
    llvm::raw_svector_ostream stream(text);
    if (!emitFile(module, features, llvm::CodeGenFileType::AssemblyFile, stream, message)) return message;
  } catch (const LlvmFatalError& error) {
    return "LLVM: " + error.reason;
  }
  return std::string(text);
}

}  // namespace pumice::shader::codegen
