// The graphics stages: the loop over the items of a call, and the values that only they have.
#include "backend/abi/vertex_abi.h"
#include "shaders/codegen/generator.h"

namespace pumice::shader::codegen {

using namespace ir;

// A block is the workgroup of compute code; gangs without a vertex are left out.
void Generator::emitVertexEntry() {
  allocaBlock_ = block("entry");
  llvm::BasicBlock* call = block("call");
  llvm::BasicBlock* item = block("block");
  llvm::BasicBlock* some = block("block.some");
  llvm::BasicBlock* gangs = block("gangs");
  llvm::BasicBlock* next = block("block.next");
  llvm::BasicBlock* exit = block("exit");
  llvm::Value* blocks = llvmFn_->getArg(1);
  llvm::Value* count = llvmFn_->getArg(2);

  enter(call);
  emitEnv();
  llvm::AllocaInst* index = newSlot(b_.getInt32Ty());
  b_.CreateStore(b_.getInt32(0), index);
  gangFrameStride_ =
      llvm::cast<llvm::Instruction>(b_.CreateFreeze(llvm::UndefValue::get(b_.getInt64Ty()), "frame.stride"));
  levelBlocks_[0] = call;

  enter(item);
  llvm::Value* at = b_.CreateLoad(b_.getInt32Ty(), index);
  llvm::Value* offset = b_.CreateMul(b_.CreateZExt(at, b_.getInt64Ty()), b_.getInt64(sizeof(abi::VertexBlock)));
  item_ = bytePointer(blocks, offset);
  itemLanes_ = b_.CreateLoad(b_.getInt32Ty(), bytePointer(item_, b_.getInt64(offsetof(abi::VertexBlock, count))));
  b_.CreateCondBr(b_.CreateICmpNE(itemLanes_, b_.getInt32(0)), some, next);
  levelBlocks_[1] = some;

  enter(gangs);
  beginFrame();
  emitGangs();
  b_.CreateBr(next);

  enter(next);
  llvm::Value* following = b_.CreateAdd(at, b_.getInt32(1));
  b_.CreateStore(following, index);
  b_.CreateCondBr(b_.CreateICmpULT(following, count), item, exit);
  enter(exit);
  b_.CreateRetVoid();

  enter(levelBlocks_[1]);
  b_.CreateBr(gangs);
  enter(levelBlocks_[0]);
  b_.CreateCondBr(b_.CreateICmpNE(count, b_.getInt32(0)), item, exit);
  enter(allocaBlock_);
  b_.CreateBr(call);
  endFrame();
}

void Generator::emitStageValue(const Inst* i) {
  const bool isEnv = i->op == Op::EnvAddress;
  const Level lvl = isEnv ? Level::kCall : Level::kGroup;
  LevelScope scope(*this, lvl);
  define(i->result, {b_.CreatePtrToInt(isEnv ? env_ : item_, b_.getInt64Ty())}, lvl);
}

}  // namespace pumice::shader::codegen
