// A SPIR-V binary split into instructions and indexed: what is declared where, decorations, functions and blocks.
// Interprets nothing. Built from words that the validator has accepted, yet every access is checked again, because the
// reader must not depend on another library's completeness. Refers to the words: they must outlive it.
#pragma once

#include <cstdint>
#include <span>
#include <spirv/unified1/spirv.hpp11>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shaders/compiler.h"

namespace pumice::shader::spirv {

// Thrown inside the reader, caught by the functions of reader.h.
struct ReadError {
  CompileStatus status;
  std::string message;
};
[[noreturn]] void failInvalid(std::string message);
[[noreturn]] void failUnsupported(std::string message);

struct Instr {
  const uint32_t* words = nullptr;
  uint32_t count = 0;  // words, the opcode included
  spv::Op op = spv::Op::OpNop;
  uint32_t resultType = 0, result = 0;  // 0 = none
  uint32_t firstOperand = 1;            // behind opcode, result type and result

  uint32_t word(uint32_t i) const {  // i-th word of the instruction
    if (i >= count) failInvalid("instruction is too short");
    return words[i];
  }
  uint32_t operand(uint32_t i) const { return word(firstOperand + i); }
  uint32_t operandCount() const { return count - firstOperand; }
  // A literal string that starts at operand i; its length in words goes to *length.
  std::string string(uint32_t i, uint32_t* length = nullptr) const;
};

struct Decoration {
  uint32_t member;  // kNoMember: of the whole object
  spv::Decoration kind;
  std::span<const uint32_t> literals;
};
inline constexpr uint32_t kNoMember = ~0u;

struct BlockDef {
  uint32_t label = 0;
  std::span<const Instr> instrs;  // without OpLabel; the last one is the terminator
};

struct FunctionDef {
  uint32_t id = 0;
  uint32_t returnType = 0;
  std::vector<uint32_t> params;
  std::vector<BlockDef> blocks;
};

enum class ExtSet : uint8_t { kNone, kGlslStd450, kNonSemantic, kUnknown };

class Module {
 public:
  explicit Module(std::span<const uint32_t> words);

  uint32_t bound() const { return bound_; }
  uint32_t version() const { return version_; }
  std::span<const spv::Capability> capabilities() const { return capabilities_; }
  const Instr* def(uint32_t id) const { return id < defs_.size() ? defs_[id] : nullptr; }
  const Instr& get(uint32_t id) const;  // throws if there is none
  const FunctionDef& function(uint32_t id) const;
  ExtSet extSet(uint32_t id) const;

  std::span<const Decoration> decorations(uint32_t id) const;
  const Decoration* find(uint32_t id, spv::Decoration kind, uint32_t member = kNoMember) const;
  bool has(uint32_t id, spv::Decoration kind, uint32_t member = kNoMember) const { return find(id, kind, member); }

  struct EntryPoint {
    spv::ExecutionModel model;
    uint32_t function;
    std::string name;
    std::vector<uint32_t> interface;  // variables
  };
  const EntryPoint* entry(spv::ExecutionModel model, std::string_view name) const;
  // Execution modes (both kinds) of an entry point.
  std::vector<const Instr*> executionModes(uint32_t function) const;
  std::span<const Instr* const> globalVariables() const { return globals_; }
  std::span<const Instr* const> structTypes() const { return structs_; }
  // The object that carries BuiltIn WorkgroupSize, 0 if there is none.
  uint32_t workgroupSizeId() const { return workgroupSizeId_; }

 private:
  void index();
  void addDecoration(uint32_t target, Decoration d);
  void applyGroups();
  void splitFunction(size_t& i);

  std::span<const uint32_t> words_;
  uint32_t bound_ = 0, version_ = 0;
  uint32_t workgroupSizeId_ = 0;
  std::vector<Instr> instrs_;
  std::vector<const Instr*> defs_;
  std::vector<spv::Capability> capabilities_;
  std::vector<std::pair<uint32_t, ExtSet>> extSets_;
  std::vector<EntryPoint> entries_;
  std::vector<const Instr*> modes_, globals_, structs_;
  std::vector<FunctionDef> functions_;
  // Decorations sorted by target; built once.
  std::vector<std::pair<uint32_t, Decoration>> pending_;
  std::vector<Decoration> decorations_;
  std::vector<uint32_t> decorationStart_;
};

}  // namespace pumice::shader::spirv
