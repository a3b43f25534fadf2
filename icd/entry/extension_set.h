// Sets of extensions, by the generated identifiers.
#pragma once

#include <bitset>
#include <cstring>
#include <optional>
#include <string_view>

#include "gen/extensions.h"

namespace pumice::icd {

template <typename Extension>
class ExtensionSet {
 public:
  bool has(Extension e) const { return bits_.test(static_cast<size_t>(e)); }
  void add(Extension e) { bits_.set(static_cast<size_t>(e)); }
  size_t count() const { return bits_.count(); }

 private:
  std::bitset<static_cast<size_t>(Extension::kCount)> bits_;
};

using InstanceExtensionSet = ExtensionSet<InstanceExtension>;
using DeviceExtensionSet = ExtensionSet<DeviceExtension>;

inline const VkExtensionProperties& extensionProperties(InstanceExtension e) {
  return kInstanceExtensionProperties[static_cast<size_t>(e)];
}
inline const VkExtensionProperties& extensionProperties(DeviceExtension e) {
  return kDeviceExtensionProperties[static_cast<size_t>(e)];
}

template <typename Extension>
std::optional<Extension> findExtension(std::string_view name) {
  for (size_t i = 0; i < static_cast<size_t>(Extension::kCount); ++i) {
    const auto e = static_cast<Extension>(i);
    if (name == extensionProperties(e).extensionName) return e;
  }
  return std::nullopt;
}

}  // namespace pumice::icd
