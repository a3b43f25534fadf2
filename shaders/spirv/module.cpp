// Also defines HasResultAndType().
#define SPV_ENABLE_UTILITY_CODE
#include "shaders/spirv/module.h"

#include <algorithm>
#include <cstring>

namespace pumice::shader::spirv {

void failInvalid(std::string message) {
  throw ReadError{CompileStatus::kInvalidSpirv, std::move(message)};
}
void failUnsupported(std::string message) {
  throw ReadError{CompileStatus::kUnsupported, std::move(message)};
}

std::string Instr::string(uint32_t i, uint32_t* length) const {
  std::string text;
  for (uint32_t w = firstOperand + i; w < count; ++w)
    for (uint32_t shift = 0; shift < 32; shift += 8) {
      const char c = static_cast<char>(words[w] >> shift);
      if (c == 0) {
        if (length) *length = w - (firstOperand + i) + 1;
        return text;
      }
      text.push_back(c);
    }
  failInvalid("unterminated string");
}

Module::Module(std::span<const uint32_t> words) : words_(words) {
  if (words_.size() < 5) failInvalid("shorter than a SPIR-V header");
  if (words_[0] != spv::MagicNumber) failInvalid("no SPIR-V magic number in this byte order");
  version_ = words_[1];
  bound_ = words_[3];
  // Every id needs an instruction of two words at least, so a bound far beyond the size is only a request for memory.
  if (bound_ == 0 || bound_ > 0x400000) failInvalid("id bound out of range");
  size_t count = 0;
  for (size_t i = 5; i < words_.size(); ++count) {
    const uint32_t length = words_[i] >> 16;
    if (length == 0 || length > words_.size() - i) failInvalid("an instruction crosses the end of the module");
    i += length;
  }
  instrs_.reserve(count);  // pointers to elements are kept
  defs_.assign(bound_, nullptr);
  for (size_t i = 5; i < words_.size();) {
    Instr in;
    in.words = &words_[i];
    in.count = words_[i] >> 16;
    in.op = static_cast<spv::Op>(words_[i] & 0xffff);
    bool hasResult = false, hasType = false;
    spv::HasResultAndType(in.op, &hasResult, &hasType);
    if (hasType) in.resultType = in.word(in.firstOperand++);
    if (hasResult) in.result = in.word(in.firstOperand++);
    instrs_.push_back(in);
    if (hasResult) {
      if (in.result == 0 || in.result >= bound_) failInvalid("result id out of range");
      if (defs_[in.result]) failInvalid("an id is defined twice");
      defs_[in.result] = &instrs_.back();
    }
    i += in.count;
  }
  index();
}

const Instr& Module::get(uint32_t id) const {
  const Instr* in = def(id);
  if (!in) failInvalid("id " + std::to_string(id) + " is not defined");
  return *in;
}

const FunctionDef& Module::function(uint32_t id) const {
  for (const FunctionDef& f : functions_)
    if (f.id == id) return f;
  failInvalid("id " + std::to_string(id) + " is no function");
}

ExtSet Module::extSet(uint32_t id) const {
  for (const auto& [set, kind] : extSets_)
    if (set == id) return kind;
  return ExtSet::kNone;
}

void Module::addDecoration(uint32_t target, Decoration d) {
  if (target >= bound_) failInvalid("decoration of an id out of range");
  pending_.emplace_back(target, d);
  if (d.kind == spv::Decoration::BuiltIn && d.member == kNoMember && !d.literals.empty() &&
      static_cast<spv::BuiltIn>(d.literals[0]) == spv::BuiltIn::WorkgroupSize)
    workgroupSizeId_ = target;
}

void Module::index() {
  for (size_t i = 0; i < instrs_.size(); ++i) {
    const Instr& in = instrs_[i];
    switch (in.op) {
      case spv::Op::OpCapability:
        capabilities_.push_back(static_cast<spv::Capability>(in.operand(0)));
        break;
      case spv::Op::OpExtInstImport: {
        const std::string name = in.string(0);
        const ExtSet set = name == "GLSL.std.450"                                               ? ExtSet::kGlslStd450
                           : name.starts_with("NonSemantic.") || name == "OpenCL.DebugInfo.100" ? ExtSet::kNonSemantic
                           : name == "DebugInfo"                                                ? ExtSet::kNonSemantic
                                                                                                : ExtSet::kUnknown;
        extSets_.emplace_back(in.result, set);
        break;
      }
      case spv::Op::OpEntryPoint:
        entries_.push_back({static_cast<spv::ExecutionModel>(in.operand(0)), in.operand(1), in.string(2), {}});
        for (auto v = static_cast<uint32_t>(3 + entries_.back().name.size() / 4); v < in.operandCount(); ++v)
          entries_.back().interface.push_back(in.operand(v));
        break;
      case spv::Op::OpExecutionMode:
      case spv::Op::OpExecutionModeId:
        modes_.push_back(&in);
        break;
      case spv::Op::OpDecorate:
      case spv::Op::OpDecorateId:
      case spv::Op::OpDecorateString:
        addDecoration(in.operand(0), {kNoMember, static_cast<spv::Decoration>(in.operand(1)),
                                      std::span(in.words, in.count).subspan(in.firstOperand + 2)});
        break;
      case spv::Op::OpMemberDecorate:
      case spv::Op::OpMemberDecorateString: {
        const auto kind = static_cast<spv::Decoration>(in.operand(2));
        addDecoration(in.operand(0), {in.operand(1), kind, std::span(in.words, in.count).subspan(in.firstOperand + 3)});
        break;
      }
      case spv::Op::OpVariable:
        globals_.push_back(&in);
        break;
      case spv::Op::OpTypeStruct:
        structs_.push_back(&in);
        break;
      case spv::Op::OpFunction:
        splitFunction(i);
        break;
      default:
        break;
    }
  }
  applyGroups();
  std::stable_sort(pending_.begin(), pending_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  decorationStart_.assign(bound_ + 1, 0);
  for (const auto& [target, d] : pending_) {
    ++decorationStart_[target + 1];
    decorations_.push_back(d);
  }
  for (size_t i = 1; i < decorationStart_.size(); ++i) decorationStart_[i] += decorationStart_[i - 1];
  pending_.clear();
}

// Decoration groups are copied to their targets, so that nobody else has to know of them.
void Module::applyGroups() {
  const size_t own = pending_.size();
  auto copyGroup = [&](uint32_t group, uint32_t target, uint32_t member) {
    for (size_t i = 0; i < own; ++i)
      if (pending_[i].first == group) {
        Decoration d = pending_[i].second;
        d.member = member;
        addDecoration(target, d);
      }
  };
  for (const Instr& in : instrs_) {
    if (in.op == spv::Op::OpGroupDecorate) {
      for (uint32_t i = 1; i < in.operandCount(); ++i) copyGroup(in.operand(0), in.operand(i), kNoMember);
    } else if (in.op == spv::Op::OpGroupMemberDecorate) {
      for (uint32_t i = 1; i + 1 < in.operandCount(); i += 2)
        copyGroup(in.operand(0), in.operand(i), in.operand(i + 1));
    } else if (in.op == spv::Op::OpFunction) {
      break;
    }
  }
}

// instrs_[i] is OpFunction; leaves i at OpFunctionEnd.
void Module::splitFunction(size_t& i) {
  FunctionDef f;
  f.id = instrs_[i].result;
  f.returnType = instrs_[i].resultType;
  for (++i; i < instrs_.size(); ++i) {
    const Instr& in = instrs_[i];
    if (in.op == spv::Op::OpFunctionEnd) {
      functions_.push_back(std::move(f));
      return;
    }
    if (in.op == spv::Op::OpFunctionParameter) {
      f.params.push_back(in.result);
    } else if (in.op == spv::Op::OpLabel) {
      BlockDef b;
      b.label = in.result;
      const size_t first = i + 1;
      size_t end = first;
      auto isEnd = [&](spv::Op op) {
        switch (op) {
          case spv::Op::OpBranch:
          case spv::Op::OpBranchConditional:
          case spv::Op::OpSwitch:
          case spv::Op::OpReturn:
          case spv::Op::OpReturnValue:
          case spv::Op::OpUnreachable:
          case spv::Op::OpKill:
          case spv::Op::OpTerminateInvocation:
            return true;
          default:
            return false;
        }
      };
      while (end < instrs_.size() && !isEnd(instrs_[end].op)) {
        if (instrs_[end].op == spv::Op::OpLabel || instrs_[end].op == spv::Op::OpFunctionEnd)
          failInvalid("a block has no terminator");
        ++end;
      }
      if (end == instrs_.size()) failInvalid("a block has no terminator");
      b.instrs = std::span<const Instr>(instrs_).subspan(first, end + 1 - first);
      f.blocks.push_back(b);
      i = end;
    }
  }
  failInvalid("a function has no end");
}

std::span<const Decoration> Module::decorations(uint32_t id) const {
  if (id >= bound_) return {};
  return std::span(decorations_).subspan(decorationStart_[id], decorationStart_[id + 1] - decorationStart_[id]);
}

const Decoration* Module::find(uint32_t id, spv::Decoration kind, uint32_t member) const {
  for (const Decoration& d : decorations(id))
    if (d.kind == kind && d.member == member) return &d;
  return nullptr;
}

const Module::EntryPoint* Module::entry(spv::ExecutionModel model, std::string_view name) const {
  for (const EntryPoint& e : entries_)
    if (e.model == model && e.name == name) return &e;
  return nullptr;
}

std::vector<const Instr*> Module::executionModes(uint32_t function) const {
  std::vector<const Instr*> found;
  for (const Instr* in : modes_)
    if (in->operand(0) == function) found.push_back(in);
  return found;
}

}  // namespace pumice::shader::spirv
