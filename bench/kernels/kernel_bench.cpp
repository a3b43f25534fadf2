// pumice-kernel: compiles one compute shader and runs it in this process, on one thread, without the driver. For work
// on the compiler: what a kernel costs, what its code looks like.
//
//   pumice-kernel saxpy.spv --groups 4096,1,1 --buffers 4194304,4194304 --push 1048576,2.0f
//   pumice-kernel saxpy.spv --dump asm
//
// Buffers are numbered as bindings of set 0 and start out with floats in [0, 1).
#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "backend/abi/shader_abi.h"
#include "shaders/cache/code_arena.h"
#include "shaders/cache/elf_loader.h"
#include "shaders/codegen/codegen.h"
#include "shaders/ir/printer.h"
#include "shaders/passes/passes.h"
#include "shaders/spirv/reader.h"

using namespace pumice;
using namespace pumice::shader;

namespace {

// Of this thread: other load of the machine does not count.
double now_ms() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) * 1e-6;
}

template <typename T>
T* pages(size_t size_B) {
  const size_t rounded = (size_B + 4095) / 4096 * 4096;
  void* p = std::aligned_alloc(4096, rounded);
  std::memset(p, 0, rounded);
  return static_cast<T*>(p);
}

uint32_t pushWord(const std::string& text) {
  if (text.back() != 'f') return static_cast<uint32_t>(std::stoul(text, nullptr, 0));
  const float f = std::stof(text);
  uint32_t bits;
  std::memcpy(&bits, &f, 4);
  return bits;
}

__attribute__((noreturn)) void leave(void*) {
  std::abort();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Compiles and runs one compute shader"};
  std::string file, dump, objectFile;
  std::vector<uint32_t> groups{1, 1, 1};
  std::vector<uint64_t> buffers;
  std::vector<std::string> push;
  ComputeCompileInfo info;
  uint32_t repetitions = 20;
  double workPerRun = 0;
  bool quick = false;
  int compiles = 5;
  app.add_option("shader", file, "SPIR-V file")->required();
  app.add_option("--groups", groups, "workgroups")->delimiter(',')->expected(3);
  app.add_option("--buffers", buffers, "bytes of each binding")->delimiter(',');
  app.add_option("--push", push, "words of push constants; 2.0f is a float")->delimiter(',');
  app.add_option("-S", info.subgroupSize, "subgroup size");
  app.add_option("-V", info.target.vectorLanes, "vector lanes; 0: this machine's");
  app.add_option("-k", info.target.gangVectors, "vectors of a gang; 0: chosen");
  app.add_option("--reps", repetitions, "measured runs");
  app.add_option("--compiles", compiles, "measured compiles");
  app.add_option("--work", workPerRun, "units of work of a run, printed per second");
  app.add_option("--dump", dump, "ir, llvm or asm instead of a run");
  app.add_option("--object", objectFile, "writes the object file");
  app.add_flag("--quick", quick, "the quick tier");
  CLI11_PARSE(app, argc, argv);
  if (quick) info.target.tier = Tier::kQuick;

  std::ifstream in(file, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  std::vector<uint32_t> words(bytes.size() / 4);
  std::memcpy(words.data(), bytes.data(), words.size() * 4);
  info.spirv = words;
  std::vector<abi::BindingSlot> slots;
  const auto count = std::max<uint32_t>(static_cast<uint32_t>(buffers.size()), dump.empty() ? 0 : 8);
  for (uint32_t b = 0; b < count; ++b) slots.push_back({0, b, 1, b * 16, 16, abi::kNotDynamic});
  info.bindings = slots;

  double read_ms = 1e9, passes_ms = 1e9, codegen_ms = 1e9;
  CompileResult compiled;
  for (int round = 0; round < compiles; ++round) {
    double t = now_ms();
    spirv::ReadResult read = spirv::readCompute(info);
    read_ms = std::min(read_ms, now_ms() - t);
    if (read.status != CompileStatus::kOk) {
      fmt::print("cannot read: {}\n", read.message);
      return 1;
    }
    t = now_ms();
    passes::runPasses(*read.function, info.target.tier);
    passes_ms = std::min(passes_ms, now_ms() - t);
    if (!dump.empty()) {
      if (dump == "ir") fmt::print("{}", ir::print(*read.function));
      if (dump == "llvm")
        fmt::print("{}", codegen::describeCode(*read.function, slots, info.target, codegen::CodeText::kLlvm));
      if (dump == "asm")
        fmt::print("{}", codegen::describeCode(*read.function, slots, info.target, codegen::CodeText::kAssembly));
      return 0;
    }
    t = now_ms();
    compiled = codegen::generateCode(*read.function, slots, info.target);
    codegen_ms = std::min(codegen_ms, now_ms() - t);
    if (compiled.status != CompileStatus::kOk) {
      fmt::print("cannot compile: {}\n", compiled.message);
      return 1;
    }
  }
  if (!objectFile.empty())
    std::ofstream(objectFile, std::ios::binary)
        .write(reinterpret_cast<const char*>(compiled.object.elf.data()),
               static_cast<std::streamsize>(compiled.object.elf.size()));
  const auto loaded = cache::loadObject(cache::CodeArena::instance(), compiled.object.elf, kEntrySymbol);
  const auto entry = reinterpret_cast<abi::ComputeEntry>(reinterpret_cast<uintptr_t>(loaded.code.entry));

  auto* set = pages<abi::BufferDescriptor>(count * sizeof(abi::BufferDescriptor) + 16);
  uint64_t random = 1;
  for (uint32_t b = 0; b < buffers.size(); ++b) {
    auto* data = pages<float>(buffers[b]);
    for (uint64_t i = 0; i < buffers[b] / 4; ++i) {
      random = random * 6364136223846793005ull + 1442695040888963407ull;
      data[i] = static_cast<float>(random >> 40) * 0x1p-24f;
    }
    set[b] = {reinterpret_cast<uint64_t>(data), buffers[b]};
  }
  abi::BindingState state{};
  state.setAddress[0] = reinterpret_cast<uint64_t>(set);
  auto* pushBytes = pages<uint32_t>(abi::kMaxPushConstantBytes);
  for (size_t i = 0; i < push.size(); ++i) pushBytes[i] = pushWord(push[i]);
  abi::RuntimeTable runtime{};
  runtime.leave = leave;
  uint32_t cancel = 0;
  abi::ComputeEnv env{};
  env.runtime = &runtime;
  env.bindings = &state;
  env.pushConstants = reinterpret_cast<std::byte*>(pushBytes);
  env.cancelWord = &cancel;
  env.shared = pages<std::byte>(abi::kMaxSharedBytes);
  env.frame = pages<std::byte>(compiled.object.info.frameBytes + 64);
  env.sink = pages<std::byte>(abi::kSinkBytes);
  for (int d = 0; d < 3; ++d) env.groupCount[d] = groups[static_cast<size_t>(d)];
  const uint64_t total = uint64_t{groups[0]} * groups[1] * groups[2];
  double best = 1e9, sum = 0;
  for (uint32_t r = 0; r < repetitions; ++r) {
    const double t = now_ms();
    entry(&env, 0, total);
    const double took = now_ms() - t;
    best = std::min(best, took);
    sum += took;
  }
  fmt::print("read {:.2f} passes {:.2f} codegen {:.2f} ms, {} bytes; frame {} B; estimate {} ns/group\n", read_ms,
             passes_ms, codegen_ms, compiled.object.elf.size(), compiled.object.info.frameBytes,
             compiled.object.info.groupCost_ns);
  fmt::print("best {:.4f} ms, mean {:.4f} ms, {:.1f} ns/group", best, sum / repetitions,
             best * 1e6 / static_cast<double>(total));
  if (workPerRun > 0) fmt::print(", {:.4g} /s", workPerRun / best * 1e3);
  fmt::print("\n");
  return 0;
}
