// What GLSL does not produce: hand-written modules.
#include <gtest/gtest.h>

#include <spirv-tools/libspirv.hpp>
#include <string>
#include <vector>

#include "shaders/spirv/test_machine.h"

namespace pumice::shader::spirv {
namespace {

Words assemble(const std::string& text) {
  spvtools::SpirvTools tools(SPV_ENV_UNIVERSAL_1_5);
  std::string message;
  tools.SetMessageConsumer([&](spv_message_level_t, const char*, const spv_position_t& at, const char* what) {
    message += std::to_string(at.line) + ": " + what + "\n";
  });
  Words words;
  EXPECT_TRUE(tools.Assemble(text, &words)) << message;
  return words;
}

// Two storage buffers of 32-bit integers, %out (binding 0) and %in (binding 1); %index is the invocation's number.
const std::string kHeader = R"(
OpCapability Shader
OpCapability VariablePointers
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "main" %id %out %in
OpExecutionMode %main LocalSize 8 1 1
OpDecorate %id BuiltIn LocalInvocationIndex
OpDecorate %array ArrayStride 4
OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
OpDecorate %out DescriptorSet 0
OpDecorate %out Binding 0
OpDecorate %in DescriptorSet 0
OpDecorate %in Binding 1
OpDecorate %ptr ArrayStride 4
%void = OpTypeVoid
%fn = OpTypeFunction %void
%bool = OpTypeBool
%u32 = OpTypeInt 32 0
%array = OpTypeRuntimeArray %u32
%block = OpTypeStruct %array
%pblock = OpTypePointer StorageBuffer %block
%ptr = OpTypePointer StorageBuffer %u32
%pin = OpTypePointer Input %u32
%id = OpVariable %pin Input
%out = OpVariable %pblock StorageBuffer
%in = OpVariable %pblock StorageBuffer
%c0 = OpConstant %u32 0
%c1 = OpConstant %u32 1
%c2 = OpConstant %u32 2
%c3 = OpConstant %u32 3
%c5 = OpConstant %u32 5
%c7 = OpConstant %u32 7
%c100 = OpConstant %u32 100
)";

Words runOn(const std::string& body, Words in = {10, 11, 12, 13, 14, 15, 16, 17}) {
  TestMachine m;
  m.buffer(0).resize(8, 0xeeeeeeee);
  m.buffer(1) = std::move(in);
  EXPECT_EQ(m.loadAndRun(assemble(kHeader + body)), "");
  return m.buffer(0);
}

const std::string kStart = R"(
%main = OpFunction %void None %fn
%entry = OpLabel
%index = OpLoad %u32 %id
%outp = OpAccessChain %ptr %out %c0 %index
)";

// A module may declare what its fragment shaders use.
TEST(Assembly, CapabilitiesOfOtherStages) {
  TestMachine m;
  m.buffer(0).resize(8);
  m.buffer(1).resize(8);
  const std::string extra =
      "\nOpCapability DemoteToHelperInvocation\nOpExtension \"SPV_EXT_demote_to_helper_invocation\"\n"
      "OpExtension \"SPV_KHR_terminate_invocation\"\n";
  std::string header = kHeader;
  header.insert(header.find("OpMemoryModel"), extra);
  EXPECT_EQ(m.loadAndRun(assemble(header + kStart + "OpStore %outp %index\nOpReturn\nOpFunctionEnd\n")), "");
  EXPECT_EQ(m.buffer(0), (Words{0, 1, 2, 3, 4, 5, 6, 7}));
}

// Two sides of a selection meet in a block that is not the declared merge block.
TEST(Assembly, JoinBeforeTheMerge) {
  const Words out = runOn(kStart + R"(
%odd = OpBitwiseAnd %u32 %index %c1
%isOdd = OpINotEqual %bool %odd %c0
OpSelectionMerge %merge None
OpBranchConditional %isOdd %a %b
%a = OpLabel
%x = OpIAdd %u32 %index %c100
OpBranch %join
%b = OpLabel
%y = OpIMul %u32 %index %c2
OpBranch %join
%join = OpLabel
%v = OpPhi %u32 %x %a %y %b
OpStore %outp %v
OpBranch %merge
%merge = OpLabel
OpReturn
OpFunctionEnd
)");
  EXPECT_EQ(out, (Words{0, 101, 4, 103, 8, 105, 12, 107}));
}

// Values of the loop are used behind it, without a phi; the phis swap each other.
TEST(Assembly, ValuesLeaveTheLoop) {
  const Words out = runOn(kStart + R"(
OpBranch %head
%head = OpLabel
%i = OpPhi %u32 %c0 %entry %next %continue
%p = OpPhi %u32 %c1 %entry %q %continue
%q = OpPhi %u32 %c2 %entry %p %continue
OpLoopMerge %exit %continue None
OpBranch %body
%body = OpLabel
%sum = OpIAdd %u32 %i %p
%done = OpUGreaterThanEqual %bool %i %index
OpBranchConditional %done %exit %continue
%continue = OpLabel
%next = OpIAdd %u32 %i %c1
OpBranch %head
%exit = OpLabel
%r = OpIMul %u32 %sum %q
OpStore %outp %r
OpReturn
OpFunctionEnd
)");
  Words expected;
  for (uint32_t i = 0; i < 8; ++i) expected.push_back(i % 2 ? (i + 2) * 1 : (i + 1) * 2);
  EXPECT_EQ(out, expected);
}

TEST(Assembly, SwitchWithPhisOnItsTargets) {
  const Words out = runOn(kStart + R"(
OpSelectionMerge %merge None
OpSwitch %index %default 1 %one 3 %three 2 %merge 5 %merge
%one = OpLabel
OpBranch %three
%three = OpLabel
%t = OpPhi %u32 %c100 %one %c7 %entry
OpBranch %merge
%default = OpLabel
OpBranch %merge
%merge = OpLabel
%v = OpPhi %u32 %t %three %index %default %c5 %entry
OpStore %outp %v
OpReturn
OpFunctionEnd
)");
  EXPECT_EQ(out, (Words{0, 100, 5, 7, 4, 5, 6, 7}));
}

TEST(Assembly, VariablePointers) {
  const Words out = runOn(R"(
%pfn = OpTypePointer Function %ptr
)" + kStart.substr(0, kStart.find("%index = ")) +
                          R"(
%var = OpVariable %pfn Function
%index = OpLoad %u32 %id
%outp = OpAccessChain %ptr %out %c0 %index
%inp = OpAccessChain %ptr %in %c0 %c1
%odd = OpBitwiseAnd %u32 %index %c1
%isOdd = OpINotEqual %bool %odd %c0
OpStore %outp %c7
%chosen = OpSelect %ptr %isOdd %inp %outp
OpStore %var %chosen
OpSelectionMerge %merge None
OpBranchConditional %isOdd %a %merge
%a = OpLabel
%further = OpPtrAccessChain %ptr %chosen %index
OpBranch %merge
%merge = OpLabel
%p = OpPhi %ptr %further %a %chosen %entry
%kept = OpLoad %ptr %var
%x = OpLoad %u32 %p
%y = OpLoad %u32 %kept
%v = OpIAdd %u32 %x %y
OpStore %outp %v
OpReturn
OpFunctionEnd
)");
  // Even: 7 + 7. Odd: in[1 + index] + in[1]; behind the end of %in: 0.
  EXPECT_EQ(out, (Words{14, 12 + 11, 14, 14 + 11, 14, 16 + 11, 14, 0 + 11}));
}

TEST(Assembly, NullPointers) {
  const Words out = runOn(R"(
%pfn = OpTypePointer Function %ptr
%null = OpConstantNull %ptr
)" + kStart.substr(0, kStart.find("%index = ")) +
                          R"(
%var = OpVariable %pfn Function %null
%index = OpLoad %u32 %id
%outp = OpAccessChain %ptr %out %c0 %index
%nothing = OpLoad %ptr %var
%none = OpLoad %u32 %nothing
OpStore %var %outp
OpStore %outp %c5
%something = OpLoad %ptr %var
%five = OpLoad %u32 %something
%sum = OpIAdd %u32 %none %five
OpStore %outp %sum
OpReturn
OpFunctionEnd
)");
  EXPECT_EQ(out, (Words{5, 5, 5, 5, 5, 5, 5, 5}));
}

TEST(Assembly, UnreachableBlocksAndInfiniteLoops) {
  const Words out = runOn(kStart + R"(
OpStore %outp %c3
OpSelectionMerge %merge None
OpSwitch %index %a 1 %b
%a = OpLabel
OpReturn
%b = OpLabel
OpStore %outp %c5
OpReturn
%merge = OpLabel
OpUnreachable
OpFunctionEnd
)");
  EXPECT_EQ(out, (Words{3, 5, 3, 3, 3, 3, 3, 3}));
}

// Arrays of descriptors: %three (binding 2, to upset the numbering), %a, %b and %c (3 to 5) of two. Word j of element k
// is 1000 * (which array) + 100 * k + j.
const std::string kArrayDecorations = R"(
OpDecorate %three DescriptorSet 0
OpDecorate %three Binding 2
OpDecorate %a DescriptorSet 0
OpDecorate %a Binding 3
OpDecorate %b DescriptorSet 0
OpDecorate %b Binding 4
OpDecorate %c DescriptorSet 0
OpDecorate %c Binding 5
)";
const std::string kArrays = R"(
%array3 = OpTypeArray %block %c3
%array2 = OpTypeArray %block %c2
%parray3 = OpTypePointer StorageBuffer %array3
%parray2 = OpTypePointer StorageBuffer %array2
%ppointer = OpTypePointer Function %parray2
%three = OpVariable %parray3 StorageBuffer
%c = OpVariable %parray2 StorageBuffer
%a = OpVariable %parray2 StorageBuffer
%b = OpVariable %parray2 StorageBuffer
)";

// kHeader with more variables in the interface and more decorations.
std::string headerWith(const std::string& variables, const std::string& decorations) {
  std::string text = kHeader;
  text.insert(text.find("%in\n") + 3, variables);
  text.insert(text.find("%void = "), decorations);
  return text;
}

Words runOnArrays(const std::string& body) {
  TestMachine m;
  m.buffer(0).resize(8, 0xeeeeeeee);
  m.buffer(1) = {0};
  constexpr size_t kCounts[] = {3, 2, 2, 2};
  for (uint32_t binding = 2; binding < 6; ++binding)
    for (uint32_t k = 0; k < kCounts[binding - 2]; ++k) {
      m.buffers[binding].emplace_back();
      for (uint32_t j = 0; j < 8; ++j) m.buffers[binding].back().push_back(1000 * binding + 100 * k + j);
    }
  EXPECT_EQ(m.loadAndRun(assemble(headerWith(" %three %a %b %c", kArrayDecorations) + kArrays + body)), "");
  return m.buffer(0);
}

const std::string kBits = R"(
%bit0 = OpBitwiseAnd %u32 %index %c1
%rest = OpShiftRightLogical %u32 %index %c1
%bit1 = OpBitwiseAnd %u32 %rest %c1
%bit2 = OpShiftRightLogical %u32 %rest %c1
%odd = OpIEqual %bool %bit0 %c1
%high = OpIEqual %bool %bit1 %c1
)";

TEST(Assembly, ChoiceOfArraysOfDescriptors) {
  const Words out = runOnArrays(R"(
%main = OpFunction %void None %fn
%entry = OpLabel
%kept = OpVariable %ppointer Function
%index = OpLoad %u32 %id
%outp = OpAccessChain %ptr %out %c0 %index
)" + kBits + R"(
%low2 = OpSelect %parray2 %odd %b %a
OpSelectionMerge %merge None
OpBranchConditional %high %then %merge
%then = OpLabel
OpBranch %merge
%merge = OpLabel
%chosen = OpPhi %parray2 %low2 %entry %c %then
OpStore %kept %chosen
%again = OpLoad %parray2 %kept
%inp = OpAccessChain %ptr %again %bit2 %c0 %index
%value = OpLoad %u32 %inp
OpStore %outp %value
OpReturn
OpFunctionEnd
)");
  // a, b, c, c; then the same with the second element of each.
  EXPECT_EQ(out, (Words{3000, 4001, 5002, 5003, 3104, 4105, 5106, 5107}));
}

TEST(Assembly, EmptyStructInWorkgroupMemory) {
  TestMachine m;
  m.buffer(0).resize(8, 0xeeeeeeee);
  m.buffer(1) = {0};
  EXPECT_EQ(m.loadAndRun(assemble(headerWith(" %shared", "") + R"(
%empty = OpTypeStruct
%pempty = OpTypePointer Workgroup %empty
%shared = OpVariable %pempty Workgroup
)" + kStart + R"(
%nothing = OpLoad %empty %shared
OpStore %shared %nothing
OpStore %outp %c5
OpReturn
OpFunctionEnd
)")),
            "");
  EXPECT_EQ(m.buffer(0), (Words{5, 5, 5, 5, 5, 5, 5, 5}));
}

// An object of 64 MiB must not become a small one because its size is left out somewhere.
TEST(Assembly, HugePrivateObjectsAreRefused) {
  TestMachine m;
  const ReadResult r = m.read(assemble(kHeader + R"(
%many = OpConstant %u32 16777216
%huge = OpTypeArray %u32 %many
%holder = OpTypeStruct %u32 %huge
%pholder = OpTypePointer Function %holder
%pword = OpTypePointer Function %u32
%main = OpFunction %void None %fn
%entry = OpLabel
%object = OpVariable %pholder Function
%index = OpLoad %u32 %id
%place = OpAccessChain %pword %object %c1 %index
OpStore %place %c1
OpReturn
OpFunctionEnd
)"));
  EXPECT_EQ(r.status, CompileStatus::kUnsupported);
}

TEST(Assembly, UndefinedObjectsThatNothingUses) {
  const Words out = runOn(R"(
%f32 = OpTypeFloat 32
%image = OpTypeImage %f32 2D 0 0 0 1 Unknown
%sampler = OpTypeSampler
%sampled = OpTypeSampledImage %image
%local = OpTypePointer Function %u32
%outside = OpUndef %sampler
)" + kStart + R"(
%a = OpUndef %image
%b = OpUndef %sampler
%c = OpUndef %sampled
%d = OpUndef %array
%e = OpUndef %local
%f = OpUndef %ptr
OpStore %outp %c7
OpReturn
OpFunctionEnd
)");
  EXPECT_EQ(out, (Words{7, 7, 7, 7, 7, 7, 7, 7}));
}

TEST(Assembly, UndefinedPointersAreNotFollowed) {
  TestMachine m;
  const ReadResult r = m.read(assemble(kHeader + R"(
%local = OpTypePointer Function %u32
)" + kStart + R"(
%undefined = OpUndef %local
%value = OpLoad %u32 %undefined
OpStore %outp %value
OpReturn
OpFunctionEnd
)"));
  EXPECT_NE(r.status, CompileStatus::kOk);
}

TEST(Assembly, UndefinedImagesAreNotRead) {
  for (const char* read :
       {"%texel = OpImageFetch %vec4 %undefined %place Lod %c0", "%size = OpImageQuerySizeLod %place2 %undefined %c0",
        "%whole = OpUndef %sampled\n%part = OpImage %image %whole"}) {
    TestMachine m;
    const ReadResult r = m.read(assemble("OpCapability ImageQuery\n" + kHeader + R"(
%f32 = OpTypeFloat 32
%vec4 = OpTypeVector %f32 4
%place2 = OpTypeVector %u32 2
%place = OpConstantComposite %place2 %c1 %c1
%image = OpTypeImage %f32 2D 0 0 0 1 Unknown
%sampled = OpTypeSampledImage %image
)" + kStart + "%undefined = OpUndef %image\n" +
                                         std::string(read) + "\nOpReturn\nOpFunctionEnd\n"));
    EXPECT_NE(r.status, CompileStatus::kOk) << read;
  }
}

// However many: a number that is kept in eight bits must not come round to none.
TEST(Assembly, TooManyClipDistances) {
  for (const char* count : {"9", "256", "257"}) {
    const Words words = assemble(R"(
OpCapability Shader
OpCapability ClipDistance
OpMemoryModel Logical GLSL450
OpEntryPoint Vertex %main "main" %distances
OpDecorate %distances BuiltIn ClipDistance
%void = OpTypeVoid
%fn = OpTypeFunction %void
%float = OpTypeFloat 32
%u32 = OpTypeInt 32 0
%count = OpConstant %u32 )" + std::string(count) +
                                 R"(
%c0 = OpConstant %u32 0
%one = OpConstant %float 1
%array = OpTypeArray %float %count
%parray = OpTypePointer Output %array
%pfloat = OpTypePointer Output %float
%distances = OpVariable %parray Output
%main = OpFunction %void None %fn
%entry = OpLabel
%at = OpAccessChain %pfloat %distances %c0
OpStore %at %one
OpReturn
OpFunctionEnd
)");
    VertexCompileInfo info;
    info.spirv = words;
    info.entryPoint = "main";
    const ReadResult r = readVertex(info);
    EXPECT_EQ(r.status, CompileStatus::kUnsupported) << count;
    EXPECT_NE(r.message.find("clip"), std::string::npos) << count << ": " << r.message;
  }
}

TEST(Assembly, UnsupportedCapabilities) {
  struct Case {
    const char *capability, *mode, *extension;
  };
  // Float controls that nothing advertises: ignoring them would give other results than the shader asks for.
  constexpr Case kCases[] = {
      {"Tessellation", "", ""},
      {"DenormFlushToZero", "OpExecutionMode %main DenormFlushToZero 32", "OpExtension \"SPV_KHR_float_controls\""},
      {"RoundingModeRTZ", "OpExecutionMode %main RoundingModeRTZ 32", "OpExtension \"SPV_KHR_float_controls\""},
  };
  for (const Case& c : kCases) {
    TestMachine m;
    const Words words = assemble(std::string("OpCapability Shader\nOpCapability ") + c.capability + "\n" + c.extension +
                                 R"(
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "main"
OpExecutionMode %main LocalSize 1 1 1
)" + c.mode + R"(
%void = OpTypeVoid
%fn = OpTypeFunction %void
%main = OpFunction %void None %fn
%entry = OpLabel
OpReturn
OpFunctionEnd
)");
    const ReadResult r = m.read(words);
    EXPECT_EQ(r.status, CompileStatus::kUnsupported) << c.capability;
    EXPECT_NE(r.message.find("capability"), std::string::npos) << c.capability << ": " << r.message;
  }
}

}  // namespace
}  // namespace pumice::shader::spirv
