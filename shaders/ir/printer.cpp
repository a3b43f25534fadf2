#include "shaders/ir/printer.h"

#include <fmt/format.h>

#include <iterator>

#include "shaders/ir/image_access.h"
#include "shaders/ir/semantics.h"

namespace pumice::shader::ir {
namespace {

const char* kindName(Kind k) {
  switch (k) {
    case Kind::kVoid:
      return "void";
    case Kind::kBool:
      return "bool";
    case Kind::kI8:
      return "i8";
    case Kind::kI16:
      return "i16";
    case Kind::kI32:
      return "i32";
    case Kind::kI64:
      return "i64";
    case Kind::kF16:
      return "f16";
    case Kind::kF32:
      return "f32";
    case Kind::kF64:
      return "f64";
    case Kind::kBufferRef:
      return "buffer";
  }
  return "?";
}

const char* spaceName(Space s) {
  switch (s) {
    case Space::kBuffer:
      return "buffer";
    case Space::kGlobal:
      return "global";
    case Space::kShared:
      return "shared";
    case Space::kPush:
      return "push";
    case Space::kLocal:
      return "local";
  }
  return "?";
}

const char* shapeName(Construct::Shape s) {
  switch (s) {
    case Construct::Shape::kBlock:
      return "block";
    case Construct::Shape::kIf:
      return "if";
    case Construct::Shape::kLoop:
      return "loop";
  }
  return "?";
}

std::string constructName(const Construct* c) {
  if (c == nullptr) return "(none)";
  if (c->parent == nullptr) return "return";
  return fmt::format("{}{}", c->shape == Construct::Shape::kLoop ? "loop" : "b", c->id);
}

std::string definition(const Value* v) {
  return fmt::format("%{}:{}", v->id, printType(v->type));
}

std::string list(const std::vector<Value*>& values, size_t from = 0) {
  std::string s;
  for (size_t i = from; i < values.size(); i++) s += (i == from ? "" : ", ") + printValue(values[i]);
  return s;
}

const char* reduceName(uint32_t op) {
  static constexpr const char* kNames[] = {"iadd", "imul", "umin", "umax", "smin", "smax", "and",
                                           "or",   "xor",  "fadd", "fmul", "fmin", "fmax"};
  return op < std::size(kNames) ? kNames[op] : "?";
}

const char* imageOpName(abi::ImageOp op) {
  static constexpr const char* kNames[] = {"read", "write", "add",  "umin",   "umax",     "smin",
                                           "smax", "and",   "or",   "xor",    "exchange", "cmpxchg",
                                           "fadd", "fmin",  "fmax", "sample", "gather",   "querylod"};
  static_assert(std::size(kNames) == static_cast<size_t>(abi::ImageOp::kQueryLod) + 1);
  return op <= abi::ImageOp::kQueryLod ? kNames[static_cast<size_t>(op)] : "?";
}

std::string memory(const Inst& inst) {
  const MemRef& m = inst.mem;
  const uint32_t addressOperands = addressOperandCount(m.space);
  std::string s = fmt::format(".{} [", spaceName(m.space));
  if (m.space == Space::kLocal) s += fmt::format("local{} + ", m.local);
  for (size_t i = 0; i < addressOperands && i < inst.operands.size(); i++) {
    s += (i == 0 ? "" : " + ") + printValue(inst.operands[i]);
  }
  if (m.scale_B != 1) s += fmt::format(" * {}", m.scale_B);
  if (m.offset_B != 0) s += fmt::format(" + {}", m.offset_B);
  s += fmt::format("] align {}", 1u << m.align_log2);
  if (m.isVolatile) s += " volatile";
  if (m.readOnly) s += " readonly";
  if (m.nonTemporalHint) s += " nontemporal";
  if (inst.operands.size() > addressOperands) s += ", " + list(inst.operands, addressOperands);
  return s;
}

class Printer {
 public:
  std::string run(const Function& fn) {
    constexpr std::string_view kStages[] = {"compute", "vertex", "fragment"};
    out_ = fmt::format("{} {} local_size {}x{}x{} subgroup {} shared {}{} {{\n", kStages[static_cast<size_t>(fn.stage)],
                       fn.name.empty() ? "(unnamed)" : fn.name, fn.localSize[0], fn.localSize[1], fn.localSize[2],
                       fn.subgroupSize, fn.sharedBytes, fn.zeroShared ? " zeroed" : "");
    for (size_t i = 0; i < fn.locals.size(); i++) {
      const LocalVar& v = fn.locals[i];
      out_ +=
          fmt::format("  local{}: {} bytes align {}{}{}\n", i, v.size_B, v.align_B, v.name.empty() ? "" : " ", v.name);
    }
    if (fn.body != nullptr) region(fn.body->body, 1);
    out_ += "}\n";
    return std::move(out_);
  }

 private:
  void region(const Region& r, int depth) {
    for (const Node* node : r.nodes) {
      if (node->tag == Node::Tag::kInst) {
        indent(depth);
        out_ += printInst(*static_cast<const Inst*>(node)) + "\n";
      } else {
        construct(*static_cast<const Construct*>(node), depth);
      }
    }
  }

  void construct(const Construct& c, int depth) {
    indent(depth);
    for (size_t i = 0; i < c.results.size(); i++) out_ += (i == 0 ? "" : ", ") + definition(c.results[i]);
    if (!c.results.empty()) out_ += " = ";
    out_ += fmt::format("{} {}", constructName(&c), shapeName(c.shape));
    if (c.shape == Construct::Shape::kIf) out_ += " " + printValue(c.condition);
    for (size_t i = 0; i < c.params.size(); i++) {
      out_ += (i == 0 ? " (" : ", ") + definition(c.params[i]) + " = " +
              (i < c.initial.size() ? printValue(c.initial[i]) : "?");
    }
    if (!c.params.empty()) out_ += ")";
    if (c.unroll) out_ += " unroll";
    if (c.dontUnroll) out_ += " dont_unroll";
    if (c.flatten) out_ += " flatten";
    if (c.dontFlatten) out_ += " dont_flatten";
    out_ += " {\n";
    region(c.body, depth + 1);
    if (c.shape == Construct::Shape::kIf) {
      indent(depth);
      out_ += "} else {\n";
      region(c.otherwise, depth + 1);
    }
    indent(depth);
    out_ += "}\n";
  }

  void indent(int depth) { out_.append(static_cast<size_t>(depth) * 2, ' '); }

  std::string out_;
};

}  // namespace

std::string printType(Type type) {
  return type.components == 1 ? std::string(kindName(type.kind))
                              : fmt::format("{}x{}", kindName(type.kind), type.components);
}

std::string printValue(const Value* v) {
  if (v == nullptr) return "(null)";
  if (v->def != Value::Def::kConstant) return fmt::format("%{}", v->id);
  if (v->type.isFloat()) {
    return fmt::format("{}:{:#x}({:g})", kindName(v->type.kind), v->bits, toDouble(v->type.kind, v->bits));
  }
  if (v->type.isBool()) return v->bits != 0 ? "true" : "false";
  return fmt::format("{}:{}", kindName(v->type.kind), v->bits);
}

std::string printInst(const Inst& inst) {
  std::string s;
  if (inst.result != nullptr) s = definition(inst.result) + " = ";
  s += opName(inst.op);
  switch (inst.op) {
    case Op::Br:
      s += " " + constructName(inst.target);
      if (!inst.operands.empty()) s += " (" + list(inst.operands) + ")";
      break;
    case Op::BrTable:
      s += " " + list(inst.operands);
      for (size_t i = 0; i < inst.cases.size(); i++) {
        const bool isDefault = i + 1 == inst.cases.size();
        s += isDefault ? ", else " : fmt::format(", {}: ", inst.cases[i].value);
        s += constructName(inst.cases[i].target);
      }
      break;
    case Op::BufferDescriptor:
      s += fmt::format(" set {} binding {}", inst.set, inst.binding);
      if (!inst.operands.empty()) s += " [" + list(inst.operands) + "]";
      if (inst.nonUniform) s += " nonuniform";
      break;
    case Op::DescriptorAddress:
      s += fmt::format(" set {} binding {}{}", inst.set, inst.binding, inst.imm == 1 ? " sampler" : "");
      if (!inst.operands.empty()) s += " [" + list(inst.operands) + "]";
      break;
    case Op::ImageRead:
    case Op::ImageAccess:
    case Op::ImageWrite: {
      const ImageAccess a = imageAccess(inst);
      s += fmt::format(".{} {}d flags {:#x} {}", imageOpName(a.op), a.spatial, a.flags, list(inst.operands));
      break;
    }
    case Op::SubgroupReduce:
    case Op::SubgroupInclusiveScan:
    case Op::SubgroupExclusiveScan:
      s += fmt::format(".{} {}", reduceName(inst.imm2), list(inst.operands));
      if (inst.imm != 0) s += fmt::format(" cluster {}", inst.imm);
      break;
    case Op::WorkgroupId:
    case Op::NumWorkgroups:
    case Op::LocalInvocationId:
      s += inst.imm < 3 ? fmt::format(".{}", "xyz"[inst.imm]) : fmt::format(".{}", inst.imm);
      break;
    case Op::FragmentPosition:
    case Op::FragmentCoverage:
    case Op::PrimitiveField:
    case Op::FragmentOutput:
    case Op::QuadShuffle:
      s += fmt::format(".{} {}", inst.imm, list(inst.operands));
      break;
    case Op::VertexField:
      s += fmt::format(".{}.{}", inst.imm, inst.imm2);
      break;
    case Op::ControlBarrier:
      s += inst.imm == 0 ? " workgroup" : " subgroup";
      break;
    case Op::Extract:
      s += fmt::format(" {}.{}", list(inst.operands), inst.imm);
      break;
    default:
      s += isMemoryOp(inst.op) ? memory(inst) : inst.operands.empty() ? "" : " " + list(inst.operands);
      break;
  }
  if (inst.line != 0) s += fmt::format("  ; line {}", inst.line);
  return s;
}

std::string print(const Function& fn) {
  return Printer().run(fn);
}

}  // namespace pumice::shader::ir
