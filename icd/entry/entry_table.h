// The table of implemented entry points (generated) and the search in it.
#pragma once

#include <span>
#include <string_view>

#include "icd/entry/extension_set.h"

namespace pumice::icd {

enum class EntryLevel : uint8_t { kGlobal, kInstance, kPhysical, kDevice };

inline constexpr uint32_t kNoCoreVersion = ~0u;

struct EntryPoint {
  const char* name;
  PFN_vkVoidFunction function;  // the trampoline
  EntryLevel level;
  uint32_t coreVersion;                           // the version that brought the name, or kNoCoreVersion
  std::span<const InstanceExtension> byInstance;  // any of these makes the name available, too
  std::span<const DeviceExtension> byDevice;
};

/// All entry points under every name, sorted by name.
std::span<const EntryPoint> entryPoints();

/// nullptr when the driver does not define it.
const EntryPoint* findEntryPoint(std::string_view name);

/// Whether the name may be handed out, given the API version and the enabled (or supported) extensions.
bool isAvailable(const EntryPoint& entry, uint32_t apiVersion, const InstanceExtensionSet& instance,
                 const DeviceExtensionSet& device);

}  // namespace pumice::icd
