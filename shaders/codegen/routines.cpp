#include "shaders/codegen/routines.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/LLVMContext.h>

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "shaders/cache/elf_loader.h"
#include "shaders/codegen/object_emit.h"

namespace pumice::shader::codegen {

namespace {

// Placed in memory as any object is, and taken from there: all that a routine refers to lies in its own image, at
// distances that stay the same wherever it goes.
std::vector<uint8_t> imageOf(std::span<const std::byte> elf) {
  cache::CodeArena arena;
  const cache::LoadResult loaded = cache::loadObject(arena, elf, kEntrySymbol);
  // Code stands first in an object, and a routine is one function.
  if (loaded.status != cache::LoadStatus::kOk || loaded.code.entry != loaded.code.block.exec) throw std::bad_alloc();
  const auto* first = reinterpret_cast<const uint8_t*>(loaded.code.block.write);
  return {first, first + loaded.code.block.size_B};
}

std::vector<uint8_t> compile(const TargetFeatures& features, RoutineType type, RoutineBody body) {
  auto context = std::make_unique<llvm::LLVMContext>();
  auto module = std::make_unique<llvm::Module>("routine", *context);
  prepareModule(*module, features);
  auto* function =
      llvm::Function::Create(type(*context), llvm::GlobalValue::ExternalLinkage, kEntrySymbol, module.get());
  setFunctionAttributes(*function, features, Tier::kBetter);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(*context, "", function));
  body(*function, b);
  bool broken = false;
  const ObjectResult object = emitObject(*module, features, Tier::kBetter, &broken);
  if (broken) {
    // In an unknown state: leaked, not destroyed.
    (void)module.release();
    (void)context.release();
  }
  if (object.status != CompileStatus::kOk) throw std::bad_alloc();
  return imageOf(object.elf);
}

class Routines {
 public:
  // Never destroyed, as nothing in this library is.
  static Routines& instance() {
    static auto* const routines = new Routines;
    return *routines;
  }

  // Stays where it is for good.
  const std::vector<uint8_t>& image(const TargetFeatures& features, llvm::StringRef name, RoutineType type,
                                    RoutineBody body) {
    std::string key = name.str() + ' ' + std::to_string(features.vectorLanes) + features.llvmFeatures;
    {
      const std::lock_guard lock(mutex_);
      if (const auto it = images_.find(key); it != images_.end()) return it->second;
    }
    // Two threads may compile the same; the first one's stays.
    std::vector<uint8_t> made = compile(features, type, body);
    const std::lock_guard lock(mutex_);
    return images_.try_emplace(std::move(key), std::move(made)).first->second;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::vector<uint8_t>> images_;  // guarded by mutex_; by name and features
};

}  // namespace

llvm::FunctionCallee routine(llvm::Module& module, const TargetFeatures& features, llvm::StringRef name,
                             RoutineType type, RoutineBody body) {
  llvm::FunctionType* functionType = type(module.getContext());
  const std::string symbol = ("routine." + name).str();
  if (llvm::GlobalVariable* there = module.getGlobalVariable(symbol, true)) return {functionType, there};
  const std::vector<uint8_t>& image = Routines::instance().image(features, name, type, body);
  llvm::Constant* bytes = llvm::ConstantDataArray::get(module.getContext(), llvm::ArrayRef(image));
  auto* global =
      new llvm::GlobalVariable(module, bytes->getType(), true, llvm::GlobalValue::PrivateLinkage, bytes, symbol);
  global->setAlignment(llvm::Align(cache::CodeArena::kAlign_B));
  return {functionType, global};
}

}  // namespace pumice::shader::codegen
