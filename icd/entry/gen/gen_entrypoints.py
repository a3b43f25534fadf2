"""Generates the entry-point declarations, trampolines, dispatch tables and extension lists.

usage: gen_entrypoints.py VK_XML IMPLEMENTED OUTPUT_DIR
Writes extensions.h, entrypoints.h and entrypoints.cpp.
"""
import sys

from registry import Registry, write_if_changed

BANNER = "// Generated from vk.xml by icd/entry/gen/gen_entrypoints.py: do not edit.\n"

# What a call returns in a forked child, by result type. Void calls just return.
LOST = {"VkResult": "VK_ERROR_DEVICE_LOST", "VkBool32": "VK_FALSE", "PFN_vkVoidFunction": "nullptr"}

# Queries without a result code cannot say that the device is lost, and what they hand out must not be garbage (a null
# queue makes the loader abort the process). They take no lock, so that a forked child gets the parent's answers; those
# that do take one hand out what is named here.
FORK_SAFE = {"vkGetInstanceProcAddr", "vkGetDeviceProcAddr"}
LOCKING_QUERIES = {"vkGetPrivateData": "*pData = 0;"}


def is_query(command):
    return command.result == "void" and not command.name.startswith("vkCmd") and any(
        p.is_pointer and not p.declaration.startswith("const ") for p in command.params)


def id_of(extension):
    return "k" + "".join(p[:1].upper() + p[1:] for p in extension[3:].split("_"))


def extensions_h(reg):
    out = [BANNER, "#pragma once\n", "#include <cstdint>\n", "#include \"icd/wsi/platform_types.h\"\n",
           "namespace pumice::icd {\n"]
    for kind in ("instance", "device"):
        exts = [e for e in sorted(reg.extensions.values(), key=lambda e: e.name) if e.kind == kind]
        title = kind.capitalize()
        out.append(f"/// Every {kind} extension that the registry knows, supported by this driver or not.")
        out.append(f"enum class {title}Extension : uint16_t {{")
        out += [f"  {id_of(e.name)}," for e in exts]
        out.append("  kCount\n};\n")
        out.append(f"inline constexpr VkExtensionProperties k{title}ExtensionProperties[] = {{")
        out += [f'    {{"{e.name}", {e.spec_version}}},' for e in exts]
        out.append("};\n")
    out.append("}  // namespace pumice::icd")
    return "\n".join(out) + "\n"


def declaration(command, prefix=""):
    params = ", ".join(p.declaration for p in command.params)
    return f"VKAPI_ATTR {command.result} VKAPI_CALL {prefix}{command.name}({params})"


def entrypoints_h(reg):
    out = [BANNER, "#pragma once\n", "#include \"icd/wsi/platform_types.h\"\n",
           "/// The driver's entry points. Defining one of these functions in icd/objects, icd/encode or icd/wsi is all that",
           "/// it takes to implement it; aliases are resolved by the tables.",
           "namespace pumice::icd {\n"]
    out += [declaration(c) + ";" for c in reg.usable_commands()]
    out.append("\n}  // namespace pumice::icd")
    return "\n".join(out) + "\n"


def trampoline(command):
    args = ", ".join(p.name for p in command.params)
    lost = LOST.get(command.result, "" if command.result == "void" else "{}")
    oom = "return VK_ERROR_OUT_OF_HOST_MEMORY;" if command.result == "VkResult" else f"return {lost};".replace(" ;", ";")
    unknown = "return VK_ERROR_UNKNOWN;" if command.result == "VkResult" else f"return {lost};".replace(" ;", ";")
    left = f"return {lost};" if lost else "return;"
    if command.result == "void" and command.params[0].declaration.startswith("VkCommandBuffer "):
        oom = unknown = f"failRecording({command.params[0].name});"
    if command.name in LOCKING_QUERIES:
        left = f"{{\n    {LOCKING_QUERIES[command.name]}\n    {left}\n  }}"
    safe = command.name in FORK_SAFE or (is_query(command) and command.name not in LOCKING_QUERIES)
    check = "" if safe else f"  if (scope.forked()) [[unlikely]] {left}\n"
    return (f"static {declaration(command, 't_')} {{\n"
            f"  EntryScope scope(\"{command.name}\");\n"
            f"{check}"
            f"  try {{\n"
            f"    return icd::{command.name}({args});\n"
            f"  }} catch (const std::bad_alloc&) {{\n"
            f"    scope.outOfMemory();\n    {oom}\n"
            f"  }} catch (...) {{\n"
            f"    scope.unexpectedException();\n    {unknown}\n"
            f"  }}\n}}\n")


def entrypoints_cpp(reg, implemented):
    out = [BANNER, "#include \"gen/entrypoints.h\"\n", "#include <new>\n", "#include \"icd/entry/entry_guard.h\"",
           "#include \"icd/entry/entry_table.h\"\n", "namespace pumice::icd {", "namespace {\n"]
    usable = {c.name: c for c in reg.usable_commands()}
    unknown = sorted(implemented - usable.keys())
    if unknown:
        sys.exit("defined entry points that the registry does not know (or knows as an alias only): " + ", ".join(unknown))
    done = [usable[n] for n in sorted(implemented)]
    out += [trampoline(c) for c in done]
    rows = []
    for command in done:
        for name in [command.name] + command.aliases:
            gate = reg.gates.get(name)
            if gate is None:
                continue
            instance = [id_of(e) for e in gate.extensions if reg.extensions[e].kind == "instance"]
            device = [id_of(e) for e in gate.extensions if reg.extensions[e].kind == "device"]
            rows.append((name, command, gate.version, instance, device))
    rows.sort(key=lambda r: r[0])
    out.append("constexpr InstanceExtension kInstanceGates[] = {InstanceExtension::kCount,")
    instance_at, device_at = {}, {}
    count = 1
    for name, _, _, instance, _ in rows:
        instance_at[name] = count if instance else 0
        out += [f"    InstanceExtension::{e}," for e in instance]
        count += len(instance)
    out.append("};\n\nconstexpr DeviceExtension kDeviceGates[] = {DeviceExtension::kCount,")
    count = 1
    for name, _, _, _, device in rows:
        device_at[name] = count if device else 0
        out += [f"    DeviceExtension::{e}," for e in device]
        count += len(device)
    out.append("};\n\nconst EntryPoint kEntryPoints[] = {")
    for name, command, version, instance, device in rows:
        core = f"VK_MAKE_API_VERSION(0, {version[0]}, {version[1]}, 0)" if version else "kNoCoreVersion"
        level = "EntryLevel::k" + reg.level(command).capitalize()
        out.append(f"    {{\"{name}\", reinterpret_cast<PFN_vkVoidFunction>(t_{command.name}), {level}, {core},\n"
                   f"     {{kInstanceGates + {instance_at[name]}, {len(instance)}}}, "
                   f"{{kDeviceGates + {device_at[name]}, {len(device)}}}}},")
    out.append("};\n\n}  // namespace\n")
    out.append("std::span<const EntryPoint> entryPoints() { return kEntryPoints; }\n")
    out.append("}  // namespace pumice::icd")
    return "\n".join(out) + "\n"


def main():
    reg = Registry(sys.argv[1])
    with open(sys.argv[2], encoding="utf-8") as names:
        implemented = set(names.read().split())
    write_if_changed(sys.argv[3] + "/extensions.h", extensions_h(reg))
    write_if_changed(sys.argv[3] + "/entrypoints.h", entrypoints_h(reg))
    write_if_changed(sys.argv[3] + "/entrypoints.cpp", entrypoints_cpp(reg, implemented))


main()
