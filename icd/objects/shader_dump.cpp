#include "icd/objects/shader_dump.h"

#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>

#include "backend/trace/log.h"
#include "icd/objects/compile_source.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace pumice::icd {
namespace {

void write(const std::string& path, std::span<const std::byte> bytes) {
  std::FILE* file = std::fopen(path.c_str(), "wbe");
  const bool written = file != nullptr && std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  const bool closed = file != nullptr && std::fclose(file) == 0;
  if (!written || !closed) PUMICE_ERROR("icd", "PUMICE_DUMP_SHADERS: %s cannot be written", path.c_str());
}

}  // namespace

std::string dumpDirectory() {
  const char* directory = std::getenv("PUMICE_DUMP_SHADERS");
  return directory != nullptr ? directory : "";
}

void dumpShader(const shader::CompilerTable& table, const CompileSource& source, shader::Tier tier) {
  const std::string& directory = source.dumpDirectory();
  if (directory.empty()) return;
  const shader::ShaderCompileInfo info = source.of(tier);
  // One name for one module, however often it is compiled; the variants beside each other.
  char name[64];
  std::snprintf(name, sizeof name, "/%016llx-s%u-%s",
                static_cast<unsigned long long>(XXH3_64bits(info.spirv.data(), info.spirv.size_bytes())),
                info.subgroupSize, info.target.tier == shader::Tier::kQuick ? "quick" : "better");
  const std::string path = directory + name;
  write(path + ".spv", std::as_bytes(info.spirv));
  if (source.stage() != VK_SHADER_STAGE_COMPUTE_BIT) return;
  const std::string text = table.describe({info});
  write(path + ".ir", std::as_bytes(std::span(text)));
}

}  // namespace pumice::icd
