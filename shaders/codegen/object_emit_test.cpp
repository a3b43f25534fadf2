#include "shaders/codegen/object_emit.h"

#include <gtest/gtest.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/LLVMContext.h>

#include <random>

#include "shaders/cache/elf_loader.h"
#include "shaders/codegen/jit_test_util.h"

namespace pumice::shader::codegen {
namespace {

// A module with one function whose body `fill` emits. Leaked when LLVM broke down in it, as the header asks.
template <typename Fill>
ObjectResult emitOne(const TargetFeatures& features, Fill fill, bool& broken) {
  auto* context = new llvm::LLVMContext;
  auto* module = new llvm::Module("test", *context);
  prepareModule(*module, features);
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(*context), {llvm::PointerType::get(*context, 0)}, false);
  auto* function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, kEntrySymbol, *module);
  setFunctionAttributes(*function, features, Tier::kBetter);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(*context, "", function));
  fill(builder, *function);
  builder.CreateRetVoid();
  ObjectResult r = emitObject(*module, features, Tier::kBetter, &broken);
  if (!broken) {
    delete module;
    delete context;
  }
  return r;
}

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kLeaksCount = true;
#else
constexpr bool kLeaksCount = false;
#endif

TEST(ObjectEmit, FatalErrorsOfLlvmAreResults) {
  if (kLeaksCount) GTEST_SKIP() << "LLVM's frames are left without their destructors, which leaks";
  bool broken = false;
  const ObjectResult r = emitOne(
      targetFeatures(4),
      [](llvm::IRBuilder<>& b, llvm::Function& f) {
        // An instruction that the target does not have.
        llvm::Type* type = llvm::FixedVectorType::get(b.getInt32Ty(), 16);
        llvm::Value* v = b.CreateAlignedLoad(type, f.getArg(0), llvm::Align(4));
        v = b.CreateIntrinsic(type, llvm::Intrinsic::x86_avx512_permvar_si_512, {v, v});
        b.CreateAlignedStore(v, f.getArg(0), llvm::Align(4));
      },
      broken);
  EXPECT_EQ(r.status, CompileStatus::kInternalError);
  EXPECT_TRUE(broken);
  EXPECT_FALSE(r.message.empty());
  // And the next compile works.
  const ObjectResult next = emitOne(
      targetFeatures(4), [](llvm::IRBuilder<>&, llvm::Function&) {}, broken);
  EXPECT_EQ(next.status, CompileStatus::kOk) << next.message;
  EXPECT_FALSE(broken);
}

TEST(ObjectEmit, DiagnosticsAreResults) {
  bool broken = false;
  const ObjectResult r = emitOne(
      targetFeatures(4),
      [](llvm::IRBuilder<>& b, llvm::Function&) {
        auto* type = llvm::FunctionType::get(b.getVoidTy(), {b.getInt32Ty()}, false);
        b.CreateCall(llvm::InlineAsm::get(type, "", "{nowhere}", true), {b.getInt32(1)});
      },
      broken);
  EXPECT_EQ(r.status, CompileStatus::kInternalError);
  EXPECT_FALSE(r.message.empty());
}

TEST(ObjectEmit, SameBytesEveryTime) {
  const auto fill = [](llvm::IRBuilder<>& b, llvm::Function& f) {
    llvm::Type* type = llvm::FixedVectorType::get(b.getFloatTy(), 16);
    llvm::Value* v = b.CreateAlignedLoad(type, f.getArg(0), llvm::Align(4));
    b.CreateAlignedStore(b.CreateFMul(v, llvm::ConstantFP::get(type, 3.5)), f.getArg(0), llvm::Align(4));
  };
  for (const uint32_t width : {4u, 8u, 16u}) {
    bool broken = false;
    const ObjectResult a = emitOne(targetFeatures(width), fill, broken);
    const ObjectResult b = emitOne(targetFeatures(width), fill, broken);
    ASSERT_EQ(a.status, CompileStatus::kOk) << a.message;
    EXPECT_EQ(a.elf, b.elf);
  }
}

// A real object, damaged: an error or something loadable, never a crash.
TEST(ObjectEmit, DamagedObjectsDoNotCrashTheLoader) {
  bool broken = false;
  const ObjectResult object = emitOne(
      targetFeatures(8),
      [](llvm::IRBuilder<>& b, llvm::Function& f) {
        llvm::Type* type = llvm::FixedVectorType::get(b.getFloatTy(), 8);
        llvm::Value* v = b.CreateAlignedLoad(type, f.getArg(0), llvm::Align(4));
        for (int i = 0; i < 20; i++) v = b.CreateFMul(v, llvm::ConstantFP::get(type, i + 0.5));
        b.CreateAlignedStore(v, f.getArg(0), llvm::Align(4));
      },
      broken);
  ASSERT_EQ(object.status, CompileStatus::kOk);
  cache::CodeArena arena;
  ASSERT_EQ(cache::loadObject(arena, object.elf, kEntrySymbol).status, cache::LoadStatus::kOk);
  const size_t used = arena.usedBytes();
  std::mt19937 random(5);
  for (int round = 0; round < 20000; round++) {
    std::vector<std::byte> bytes = object.elf;
    for (unsigned i = 0; i < 1 + random() % 6; i++) bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    if (round % 10 == 0) bytes.resize(random() % bytes.size());
    const cache::LoadResult r = cache::loadObject(arena, bytes, kEntrySymbol);
    if (r.status == cache::LoadStatus::kOk) arena.free(r.code.block);
  }
  EXPECT_EQ(arena.usedBytes(), used);
}

}  // namespace
}  // namespace pumice::shader::codegen
