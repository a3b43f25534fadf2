#include "icd/entry/entry_table.h"

#include <algorithm>

namespace pumice::icd {

const EntryPoint* findEntryPoint(std::string_view name) {
  const auto table = entryPoints();
  const auto at = std::lower_bound(table.begin(), table.end(), name,
                                   [](const EntryPoint& e, std::string_view n) { return e.name < n; });
  return at != table.end() && at->name == name ? &*at : nullptr;
}

bool isAvailable(const EntryPoint& entry, uint32_t apiVersion, const InstanceExtensionSet& instance,
                 const DeviceExtensionSet& device) {
  if (entry.coreVersion != kNoCoreVersion && entry.coreVersion <= apiVersion) return true;
  return std::any_of(entry.byInstance.begin(), entry.byInstance.end(), [&](auto e) { return instance.has(e); }) ||
         std::any_of(entry.byDevice.begin(), entry.byDevice.end(), [&](auto e) { return device.has(e); });
}

}  // namespace pumice::icd
