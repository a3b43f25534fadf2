"""Generates the flat feature and property lists and the code that walks pNext chains with them.

usage: gen_device_info.py VK_XML OUTPUT_DIR
Writes struct_types.h, device_info.h and device_info.cpp. The driver fills ONE flat Features and ONE flat Properties
object; every structure of the registry that extends VkPhysicalDeviceFeatures2 or VkPhysicalDeviceProperties2 is copied
from them by member name.
"""
import sys

from registry import Registry, write_if_changed

BANNER = "// Generated from vk.xml by icd/entry/gen/gen_device_info.py: do not edit.\n"
VENDORS = ("AMD", "AMDX", "ARM", "HUAWEI", "IMG", "INTEL", "MESA", "NV", "NVX", "QCOM", "SEC", "VALVE", "GOOGLE")

# Same member, other name in the structure of core 1.1 and 1.2; the flat lists use the core's name.
RENAMED_PROPERTIES = {
    ("VkPhysicalDeviceSubgroupProperties", "supportedStages"): "subgroupSupportedStages",
    ("VkPhysicalDeviceSubgroupProperties", "supportedOperations"): "subgroupSupportedOperations",
    ("VkPhysicalDeviceSubgroupProperties", "quadOperationsInAllStages"): "subgroupQuadOperationsInAllStages",
}
# Not the feature of the core that has the same name.
RENAMED_FEATURES = {
    ("VkPhysicalDeviceBufferDeviceAddressFeaturesEXT", "bufferDeviceAddress"): "bufferDeviceAddressEXT",
    ("VkPhysicalDeviceBufferDeviceAddressFeaturesEXT", "bufferDeviceAddressCaptureReplay"):
        "bufferDeviceAddressCaptureReplayEXT",
    ("VkPhysicalDeviceBufferDeviceAddressFeaturesEXT", "bufferDeviceAddressMultiDevice"):
        "bufferDeviceAddressMultiDeviceEXT",
}


def vendor(name):
    for v in VENDORS:
        if name.endswith(v):
            return v
    return ""


def order(name):
    """Core before KHR before EXT before vendors, so that a vendor's name clash is the one renamed."""
    if name.startswith("VkPhysicalDeviceVulkan1"):
        return (0, name)
    if vendor(name):
        return (3, name)
    return (1 if name.endswith("KHR") else 2, name)


def payload(struct):
    return [m for m in struct.members if m.name not in ("sType", "pNext")]


def extending(reg, base):
    structs = [s for n, s in reg.structs.items() if base in s.extends and s.stype and n in reg.available_types]
    return sorted(structs, key=lambda s: order(s.name))


def flatten(structs, renamed):
    """[(flat name, declaration, member)] in order, and {(struct, member): flat name}."""
    flat, where, owner = {}, {}, {}
    for struct in structs:
        for member in payload(struct):
            name = renamed.get((struct.name, member.name), member.name)
            clash = name in flat and (flat[name][0] != member.type or flat[name][1].array != member.array)
            if clash or (name in flat and vendor(struct.name) and vendor(struct.name) != vendor(owner[name])):
                name += vendor(struct.name) or struct.name[len("VkPhysicalDevice"):]
            if name not in flat:
                flat[name] = (member.type, member)
                owner[name] = struct.name
            where[(struct.name, member.name)] = name
    return flat, where


def struct_types_h(reg):
    out = [BANNER, "#pragma once\n", "#include \"icd/wsi/platform_types.h\"\n", "namespace pumice::icd {\n",
           "/// kStructureType<T> is the sType of T.", "template <typename T>",
           "inline constexpr VkStructureType kStructureType = VK_STRUCTURE_TYPE_MAX_ENUM;\n"]
    for name, struct in sorted(reg.structs.items()):
        if struct.stype and name in reg.available_types:
            out.append(f"template <>\ninline constexpr VkStructureType kStructureType<{name}> = {struct.stype};")
    out.append("\n}  // namespace pumice::icd")
    return "\n".join(out) + "\n"


def main():
    reg = Registry(sys.argv[1])
    core = reg.structs["VkPhysicalDeviceFeatures"]
    feature_structs = [s for s in extending(reg, "VkPhysicalDeviceFeatures2")
                       if all(m.type == "VkBool32" and not m.array for m in payload(s))]
    property_structs = [s for s in extending(reg, "VkPhysicalDeviceProperties2")
                        if not any(m.is_pointer for m in payload(s))]
    features, feature_at = flatten([core] + feature_structs, RENAMED_FEATURES)
    properties, property_at = flatten(property_structs, RENAMED_PROPERTIES)

    h = [BANNER, "#pragma once\n", "#include <vulkan/vulkan_core.h>\n", "#include <cstddef>\n",
         "namespace pumice::icd {\n", "/// Every feature bit of the registry, once.", "struct Features {"]
    h += [f"  bool {n} = false;" for n in features]
    h += ["};\n", f"inline constexpr size_t kFeatureCount = {len(features)};",
          "static_assert(sizeof(Features) == kFeatureCount);\n",
          "/// The name of the index-th member of Features.", "const char* featureName(size_t index);\n",
          "/// Every member of the structures that extend VkPhysicalDeviceProperties2, once; the base structure apart.",
          "struct Properties {", "  VkPhysicalDeviceProperties base{};"]
    for name, (_, member) in properties.items():
        array = f"[{member.array}]" if member.array else ""
        h.append(f"  {member.type} {name}{array}{{}};")
    h += ["};\n", "/// Copies the flat list into the base structure and every known structure of its chain.",
          "void writeFeatures(const Features& from, VkPhysicalDeviceFeatures2* to);",
          "void writeFeatures(const Features& from, VkPhysicalDeviceFeatures* to);",
          "/// Turns on what pEnabledFeatures and the chain of a device's creation ask for.",
          "void readFeatures(const VkDeviceCreateInfo& from, Features* to);",
          "void writeProperties(const Properties& from, VkPhysicalDeviceProperties2* to);\n",
          "}  // namespace pumice::icd"]
    write_if_changed(sys.argv[2] + "/device_info.h", "\n".join(h) + "\n")

    c = [BANNER, "#include \"gen/device_info.h\"\n", "#include <cstring>\n", "namespace pumice::icd {",
         "namespace {\n", "constexpr const char* kFeatureNames[] = {"]
    c += [f'    "{n}",' for n in features]
    c += ["};\n", "void readCore(const VkPhysicalDeviceFeatures& from, Features* to) {"]
    c += [f"  to->{feature_at[(core.name, m.name)]} |= from.{m.name} != VK_FALSE;" for m in core.members]
    c += ["}\n", "}  // namespace\n", "const char* featureName(size_t index) { return kFeatureNames[index]; }\n",
          "void writeFeatures(const Features& from, VkPhysicalDeviceFeatures* to) {"]
    c += [f"  to->{m.name} = from.{feature_at[(core.name, m.name)]};" for m in core.members]
    c += ["}\n", "void writeFeatures(const Features& from, VkPhysicalDeviceFeatures2* to) {",
          "  writeFeatures(from, &to->features);",
          "  for (auto* next = static_cast<VkBaseOutStructure*>(to->pNext); next != nullptr; next = next->pNext) {",
          "    switch (static_cast<int>(next->sType)) {"]
    for s in feature_structs:
        c += [f"      case {s.stype}: {{", f"        auto* out = reinterpret_cast<{s.name}*>(next);"]
        c += [f"        out->{m.name} = from.{feature_at[(s.name, m.name)]};" for m in payload(s)]
        c += ["        break;", "      }"]
    c += ["      default:", "        break;", "    }", "  }", "}\n",
          "void readFeatures(const VkDeviceCreateInfo& from, Features* to) {",
          "  if (from.pEnabledFeatures != nullptr) readCore(*from.pEnabledFeatures, to);",
          "  for (auto* next = static_cast<const VkBaseInStructure*>(from.pNext); next != nullptr; next = next->pNext) {",
          "    switch (static_cast<int>(next->sType)) {",
          "      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2:",
          "        readCore(reinterpret_cast<const VkPhysicalDeviceFeatures2*>(next)->features, to);",
          "        break;"]
    for s in feature_structs:
        c += [f"      case {s.stype}: {{", f"        const auto* in = reinterpret_cast<const {s.name}*>(next);"]
        c += [f"        to->{feature_at[(s.name, m.name)]} |= in->{m.name} != VK_FALSE;" for m in payload(s)]
        c += ["        break;", "      }"]
    c += ["      default:", "        break;", "    }", "  }", "}\n",
          "void writeProperties(const Properties& from, VkPhysicalDeviceProperties2* to) {",
          "  to->properties = from.base;",
          "  for (auto* next = static_cast<VkBaseOutStructure*>(to->pNext); next != nullptr; next = next->pNext) {",
          "    switch (static_cast<int>(next->sType)) {"]
    for s in property_structs:
        c += [f"      case {s.stype}: {{", f"        auto* out = reinterpret_cast<{s.name}*>(next);"]
        for m in payload(s):
            flat = property_at[(s.name, m.name)]
            if m.array:
                c.append(f"        std::memcpy(out->{m.name}, from.{flat}, sizeof(out->{m.name}));")
            else:
                c.append(f"        out->{m.name} = from.{flat};")
        c += ["        break;", "      }"]
    c += ["      default:", "        break;", "    }", "  }", "}\n", "}  // namespace pumice::icd"]
    write_if_changed(sys.argv[2] + "/device_info.cpp", "\n".join(c) + "\n")
    write_if_changed(sys.argv[2] + "/struct_types.h", struct_types_h(reg))


main()
