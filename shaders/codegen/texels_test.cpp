// Texels that compiled code reads and writes by itself against the interpreter, which asks the texture unit for every
// one of them: the same bits in every format, at every S, V and k, wherever the lanes are.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "backend/texture/test_image.h"
#include "backend/texture/texture.h"
#include "shaders/cache/code_arena.h"
#include "shaders/cache/elf_loader.h"
#include "shaders/codegen/codegen.h"
#include "shaders/codegen/target_features.h"
#include "shaders/ir/image_access.h"
#include "shaders/ir/interpreter.h"
#include "shaders/ir/printer.h"
#include "shaders/passes/passes.h"
#include "shaders/spirv/reader.h"
#include "test_shaders/texels.h"

namespace pumice::shader::codegen {
namespace {

struct StorageFormat {
  uint8_t spirv;  // spv::ImageFormat
  VkFormat format;
};
constexpr StorageFormat kFloats[] = {{1, VK_FORMAT_R32G32B32A32_SFLOAT},
                                     {2, VK_FORMAT_R16G16B16A16_SFLOAT},
                                     {3, VK_FORMAT_R32_SFLOAT},
                                     {4, VK_FORMAT_R8G8B8A8_UNORM},
                                     {6, VK_FORMAT_R32G32_SFLOAT},
                                     {7, VK_FORMAT_R16G16_SFLOAT},
                                     {9, VK_FORMAT_R16_SFLOAT},
                                     {10, VK_FORMAT_R16G16B16A16_UNORM},
                                     {12, VK_FORMAT_R16G16_UNORM},
                                     {13, VK_FORMAT_R8G8_UNORM},
                                     {14, VK_FORMAT_R16_UNORM},
                                     {15, VK_FORMAT_R8_UNORM},
                                     {5, VK_FORMAT_R8G8B8A8_SNORM},
                                     {0, VK_FORMAT_R8G8B8A8_UNORM},
                                     {0, VK_FORMAT_R32G32B32A32_SFLOAT},
                                     {4, VK_FORMAT_B8G8R8A8_UNORM},
                                     {0, VK_FORMAT_R16G16B16A16_SFLOAT},
                                     {0, VK_FORMAT_R8_UNORM},
                                     {0, VK_FORMAT_A2B10G10R10_UNORM_PACK32}};
constexpr StorageFormat kIntegers[] = {{21, VK_FORMAT_R32G32B32A32_SINT},
                                       {22, VK_FORMAT_R16G16B16A16_SINT},
                                       {23, VK_FORMAT_R8G8B8A8_SINT},
                                       {24, VK_FORMAT_R32_SINT},
                                       {25, VK_FORMAT_R32G32_SINT},
                                       {26, VK_FORMAT_R16G16_SINT},
                                       {27, VK_FORMAT_R8G8_SINT},
                                       {28, VK_FORMAT_R16_SINT},
                                       {29, VK_FORMAT_R8_SINT},
                                       {30, VK_FORMAT_R32G32B32A32_UINT},
                                       {31, VK_FORMAT_R16G16B16A16_UINT},
                                       {32, VK_FORMAT_R8G8B8A8_UINT},
                                       {33, VK_FORMAT_R32_UINT},
                                       {35, VK_FORMAT_R32G32_UINT},
                                       {36, VK_FORMAT_R16G16_UINT},
                                       {37, VK_FORMAT_R8G8_UINT},
                                       {38, VK_FORMAT_R16_UINT},
                                       {39, VK_FORMAT_R8_UINT},
                                       {0, VK_FORMAT_R32_UINT}};

constexpr uint32_t kLayers = 3;

// Row-linear, with memory that ends at an inaccessible page.
struct RowImage {
  RowImage(VkFormat format, uint32_t width, uint32_t height) {
    bytes = formats::formatInfo(format).blockBytes;
    level.rowPitch_B = (width * bytes + 3) / 4 * 4 + 4;
    const uint64_t layer = uint64_t{level.rowPitch_B} * height;
    size = layer * kLayers;
    memory = std::make_unique<texture::test::GuardedBytes>(size, true);
    d.address = reinterpret_cast<uint64_t>(memory->data());
    d.width = width;
    d.height = height;
    d.depthOrLayers = kLayers;
    d.viewClass = abi::makeViewClass(abi::ViewShape::k2D, false, texture::texelFormatIndex(format));
    d.levelCount = 1;
    d.swizzle = abi::kIdentitySwizzle;
    d.layerPitch_B = layer;
    d.levelTable = reinterpret_cast<uint64_t>(&level);
    abi::setPlainRows(d, level);
  }
  void fill(uint32_t seed) {
    std::mt19937 random(seed);
    for (size_t i = 0; i < size; ++i) memory->data()[i] = static_cast<std::byte>(random());
  }
  // Which NaN comes out of several is nobody's promise: no float has the highest exponents.
  void makeFinite(uint32_t floatBytes) {
    for (size_t i = floatBytes - 1; i < size; i += floatBytes) memory->data()[i] &= std::byte{0xBF};
  }
  std::vector<std::byte> contents() const { return {memory->data(), memory->data() + size}; }

  uint32_t bytes = 0;
  uint64_t size = 0;
  abi::ImageLevel level{};
  std::unique_ptr<texture::test::GuardedBytes> memory;
  abi::ImageDescriptor d{};
};

uint64_t calls = 0;
void countedAccess(abi::ImageCall* call) {
  ++calls;
  texture::accessImage(call);
}
__attribute__((noreturn)) void leave(void*) {
  std::abort();
}

struct Push {
  int32_t size[2], offset[2], layer, outLayer;
};
struct Case {
  StorageFormat floats, integers;
  VkFormat sampled;
  uint32_t local[2], groups[2];
  uint32_t width, height;
};

class Texels : public testing::Test {
 protected:
  static constexpr uint32_t kBindings = 9, kSlot_B = 128;

  void SetUp() override {
    for (uint32_t b = 0; b < kBindings; ++b) slots_.push_back({0, b, 1, b * kSlot_B, kSlot_B, abi::kNotDynamic});
    state_.setAddress[0] = reinterpret_cast<uint64_t>(set_.data());
    runtime_.leave = leave;
    runtime_.accessImage = countedAccess;
    env_.runtime = &runtime_;
    env_.bindings = &state_;
    env_.pushConstants = push_.data();
    env_.cancelWord = &cancel_;
    env_.sink = sink_.data();
  }

  void bind(uint32_t binding, const void* descriptor, size_t size) {
    std::memcpy(set_.data() + size_t{binding} * kSlot_B, descriptor, size);
  }

  std::unique_ptr<ir::Function> read(const Case& c, uint32_t subgroupSize, Tier tier) {
    ComputeCompileInfo info;
    info.spirv = texels;
    info.bindings = slots_;
    info.subgroupSize = subgroupSize;
    const SpecConstant sizes[] = {{0, 4, c.local[0]}, {1, 4, c.local[1]}};
    info.specConstants = sizes;
    spirv::ReadResult r = spirv::readCompute(info);
    EXPECT_EQ(r.status, CompileStatus::kOk) << r.message;
    if (!r.function) return nullptr;
    setFormats(r.function->body->body, c);
    setFormats(r.function->body->otherwise, c);
    passes::runPasses(*r.function, tier);
    return std::move(r.function);
  }

  // The shader says r32f and r32ui.
  static void setFormats(const ir::Region& region, const Case& c) {
    for (ir::Node* n : region.nodes) {
      if (n->tag == ir::Node::Tag::kConstruct) {
        setFormats(static_cast<ir::Construct*>(n)->body, c);
        setFormats(static_cast<ir::Construct*>(n)->otherwise, c);
        continue;
      }
      auto* i = static_cast<ir::Inst*>(n);
      if (!ir::isImageOp(i->op)) continue;
      ir::ImageAccess a = ir::imageAccess(*i);
      if (a.format == 3) a.format = c.floats.spirv;
      if (a.format == 33) a.format = c.integers.spirv;
      ir::setImageAccess(*i, a);
    }
  }

  // What a run leaves behind.
  using Result = std::vector<std::vector<std::byte>>;

  // `run` executes the shader on env_.
  template <typename Run>
  Result execute(const Case& c, const Push& push, Run&& run) {
    RowImage floats(c.floats.format, c.width, c.height), floatsOut(c.floats.format, c.width, c.height);
    RowImage integers(c.integers.format, c.width, c.height), integersOut(c.integers.format, c.width, c.height);
    RowImage sampled(c.sampled, c.width, c.height), plain(VK_FORMAT_R8G8B8A8_UNORM, c.width, c.height);
    RowImage filtered(c.sampled, c.width, c.height);
    uint32_t seed = 0;
    for (RowImage* image : {&floats, &floatsOut, &integers, &integersOut, &sampled, &plain, &filtered})
      image->fill(++seed);
    if (c.sampled == VK_FORMAT_R16G16B16A16_SFLOAT) filtered.makeFinite(2);
    if (c.sampled == VK_FORMAT_R32G32B32A32_SFLOAT || c.sampled == VK_FORMAT_R32_SFLOAT) filtered.makeFinite(4);
    uint32_t binding = 2;
    for (RowImage* image : {&floats, &floatsOut, &integers, &integersOut, &sampled, &plain, &filtered})
      bind(binding++, &image->d, sizeof image->d);
    abi::SamplerDescriptor sampler{};
    sampler.samplerClass = abi::makeSamplerClass(1, 1, 0, (c.width + 1) % 5, (c.height + 1) % 5, 0);
    sampler.maxLod = 1000;
    std::memcpy(set_.data() + size_t{8} * kSlot_B + sizeof(abi::ImageDescriptor), &sampler, sizeof sampler);
    const uint32_t invocations = c.local[0] * c.local[1] * c.groups[0] * c.groups[1];
    std::vector<uint32_t> out(size_t{invocations} * 17 * 4, 0xCCCCCCCC), in(size_t{invocations} * 4);
    std::mt19937 random(7);
    for (uint32_t n = 0; n < invocations; ++n) {
      in[4 * n] = random() % (c.width + 2) - 1;
      in[4 * n + 1] = random() % 16 == 0 ? random() : random() % c.height;
      for (uint32_t w = 2; w < 4; ++w)
        in[4 * n + w] = random() % 3 == 0
                            ? random()
                            : std::bit_cast<uint32_t>(static_cast<float>(random() % 1000) / 900.0f - 0.05f);
    }
    const abi::BufferDescriptor outBuffer{reinterpret_cast<uint64_t>(out.data()), out.size() * 4};
    const abi::BufferDescriptor inBuffer{reinterpret_cast<uint64_t>(in.data()), in.size() * 4};
    bind(0, &outBuffer, sizeof outBuffer);
    bind(1, &inBuffer, sizeof inBuffer);
    std::memcpy(push_.data(), &push, sizeof push);
    env_.groupCount[0] = c.groups[0];
    env_.groupCount[1] = c.groups[1];
    env_.groupCount[2] = 1;
    calls = 0;
    run();
    const auto* bytes = reinterpret_cast<const std::byte*>(out.data());
    return {{bytes, bytes + out.size() * 4}, floatsOut.contents(), integersOut.contents()};
  }

  void compare(const Case& c, uint32_t s, uint32_t v, uint32_t k, Tier tier, std::span<const Push> pushes) {
    const std::unique_ptr<ir::Function> fn = read(c, s, tier);
    ASSERT_NE(fn, nullptr);
    TargetOptions target;
    target.vectorLanes = v;
    target.gangVectors = k;
    target.tier = tier;
    const CompileResult r = generateCode(*fn, slots_, target);
    ASSERT_EQ(r.status, CompileStatus::kOk) << r.message;
    const auto loaded = cache::loadObject(cache::CodeArena::instance(), r.object.elf, kEntrySymbol);
    ASSERT_EQ(loaded.status, cache::LoadStatus::kOk) << loaded.message;
    std::vector<std::byte> frame(r.object.info.frameBytes + 64);
    env_.frame = reinterpret_cast<std::byte*>((reinterpret_cast<uintptr_t>(frame.data()) + 63) / 64 * 64);
    const uint32_t groups = c.groups[0] * c.groups[1];
    for (const Push& push : pushes) {
      const Result want = execute(c, push, [&] { ASSERT_EQ(ir::interpret(*fn, slots_, env_, 0, groups), ""); });
      const Result got = execute(c, push, [&] {
        reinterpret_cast<abi::ComputeEntry>(reinterpret_cast<uintptr_t>(loaded.code.entry))(&env_, 0, groups);
      });
      for (size_t n = 0; n < want.size(); ++n) {
        size_t at = 0;
        while (at < want[n].size() && want[n][at] == got[n][at]) ++at;
        ASSERT_EQ(at, want[n].size()) << "result " << n << " byte " << at << ", formats " << c.floats.format << " ("
                                      << int{c.floats.spirv} << ") " << c.integers.format << " ("
                                      << int{c.integers.spirv} << ") " << c.sampled << ", S " << s << " V " << v
                                      << " k " << k << ", group " << c.local[0] << "x" << c.local[1] << ", image "
                                      << c.width << "x" << c.height << ", offset " << push.offset[0] << ","
                                      << push.offset[1] << " layers " << push.layer << "," << push.outLayer;
      }
    }
    cache::CodeArena::instance().free(loaded.code.block);
  }

  std::vector<Push> pushes(const Case& c) const {
    const auto w = static_cast<int32_t>(c.width), h = static_cast<int32_t>(c.height);
    return {{{w, h}, {0, 0}, 0, 0},  {{w, h}, {-3, -1}, 2, 1},           {{w, h}, {2, 1}, 1, 2},
            {{w, h}, {1, -2}, 3, 5}, {{w, h}, {INT32_MAX - 3, 0}, 0, 0}, {{w, h}, {0, 0}, -1, -1}};
  }

  std::vector<abi::BindingSlot> slots_;
  alignas(64) std::array<std::byte, kBindings * kSlot_B> set_{};
  abi::BindingState state_{};
  abi::RuntimeTable runtime_{};
  abi::ComputeEnv env_{};
  alignas(64) std::array<std::byte, abi::kMaxPushConstantBytes> push_{};
  alignas(64) std::array<std::byte, abi::kSinkBytes> sink_{};
  uint32_t cancel_ = 0;
};

constexpr VkFormat kSampled[] = {VK_FORMAT_R8G8B8A8_UNORM,      VK_FORMAT_R8_UNORM,   VK_FORMAT_R16G16B16A16_SFLOAT,
                                 VK_FORMAT_R32G32B32A32_SFLOAT, VK_FORMAT_R32_SFLOAT, VK_FORMAT_B8G8R8A8_SRGB};

// Every format at the host's width.
TEST_F(Texels, EveryFormat) {
  for (size_t n = 0; n < std::max(std::size(kFloats), std::size(kIntegers)); ++n) {
    const Case c{kFloats[n % std::size(kFloats)],
                 kIntegers[n % std::size(kIntegers)],
                 kSampled[n % std::size(kSampled)],
                 {16, 4},
                 {3, 2},
                 48,
                 8};
    compare(c, 16, hostVectorLanes(), 2, Tier::kBetter, pushes(c));
    if (HasFatalFailure()) return;
  }
}

// Formats in turn with widths, subgroups, gangs and workgroups.
TEST_F(Texels, EveryShapeOfCode) {
  constexpr uint32_t kLocal[][2] = {{16, 2}, {8, 8}, {40, 1}, {4, 16}, {5, 3}, {32, 2}};
  size_t turn = 0;
  for (const auto& local : kLocal)
    for (const uint32_t s : {4u, 8u, 16u, 32u})
      for (const uint32_t v : {4u, 8u, 16u}) {
        if (++turn % 2 == 0 || v > hostVectorLanes()) continue;
        const uint32_t k = turn % 3 == 0 ? 2 : 1;
        const Case c{kFloats[turn % std::size(kFloats)],
                     kIntegers[turn * 5 % std::size(kIntegers)],
                     kSampled[turn % std::size(kSampled)],
                     {local[0], local[1]},
                     {2, 2},
                     static_cast<uint32_t>(37 + turn % 5),
                     static_cast<uint32_t>(1 + turn % 13)};
        compare(c, s, v, k, turn % 7 == 0 ? Tier::kQuick : Tier::kBetter, pushes(c));
        if (HasFatalFailure()) return;
      }
}

// That rows really are read and written without a call, and what lies apart too where the machine gathers.
TEST_F(Texels, RowsNeedNoCall) {
  const Case c{kFloats[3], kIntegers[12], VK_FORMAT_R16G16B16A16_SFLOAT, {16, 4}, {3, 2}, 48, 8};
  const std::unique_ptr<ir::Function> fn = read(c, 16, Tier::kBetter);
  ASSERT_NE(fn, nullptr);
  TargetOptions target;
  target.gangVectors = 1;  // a gang asks for all of its subgroups
  const CompileResult r = generateCode(*fn, slots_, target);
  ASSERT_EQ(r.status, CompileStatus::kOk) << r.message;
  const auto loaded = cache::loadObject(cache::CodeArena::instance(), r.object.elf, kEntrySymbol);
  ASSERT_EQ(loaded.status, cache::LoadStatus::kOk) << loaded.message;
  std::vector<std::byte> frame(r.object.info.frameBytes + 64);
  env_.frame = reinterpret_cast<std::byte*>((reinterpret_cast<uintptr_t>(frame.data()) + 63) / 64 * 64);
  execute(c, {{48, 8}, {0, 0}, 0, 0},
          [&] { reinterpret_cast<abi::ComputeEntry>(reinterpret_cast<uintptr_t>(loaded.code.entry))(&env_, 0, 6); });
  // 24 subgroups. The first filter leaves the image in the last of three columns of subgroups and in the last row, the
  // others may in all. Without gathers, what is anywhere and what is the same for all (three images each) is asked for.
  EXPECT_LE(calls, (hostVectorLanes() == 16 ? 0u : 24u * 6) + 10 + 24 + 24);
  cache::CodeArena::instance().free(loaded.code.block);
}

}  // namespace
}  // namespace pumice::shader::codegen
