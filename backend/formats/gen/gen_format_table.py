"""Writes format_table_data.cpp: the format table, from the <formats> section of vk.xml.

    gen_format_table.py vk.xml vulkan_core.h OUTPUT

Numbers come from the header, so that exactly the formats that it declares are in the table, whatever the registry
beside it has. Names, widths and numeric formats of components come from the format's own name: it states them all, the
padding of X8_D24 and R10X6 included, and the registry's list of components has mistakes (1.3.239 calls the second
component of R64G64 "B", gives the red of B10G11R11 10 bits and says that BC4_SNORM is SRGB).
"""
import re
import sys
import xml.etree.ElementTree as ET

NUMERIC = {"UNORM": "kUnorm", "SNORM": "kSnorm", "USCALED": "kUscaled", "SSCALED": "kSscaled", "UINT": "kUint",
           "SINT": "kSint", "UFLOAT": "kUfloat", "SFLOAT": "kSfloat", "SRGB": "kSrgb"}
COMPRESSION = {None: "kNone", "BC": "kBc", "ETC2": "kEtc2", "EAC": "kEac", "ASTC LDR": "kAstcLdr",
               "ASTC HDR": "kAstcHdr", "PVRTC": "kPvrtc"}
CHROMA = {None: "kNone", "420": "k420", "422": "k422", "444": "k444"}
# Optical flow's fixed point (the registry first called it SINT) and what machine learning adds: no format of images.
NOT_HANDLED = re.compile(r"S10_5|SFIXED5|_BOOL|FPENCODING")
VENDOR = re.compile(r"_(KHR|EXT|IMG|NV|AMD|ARM|QCOM|INTEL|HUAWEI)$")
DEPTH_ALONE = {16: "VK_FORMAT_D16_UNORM", 24: "VK_FORMAT_X8_D24_UNORM_PACK32", 32: "VK_FORMAT_D32_SFLOAT"}


def header_numbers(path):
    """{name: number} of enum VkFormat, with aliases."""
    text = open(path, encoding="utf-8").read()
    body = re.search(r"typedef enum VkFormat \{(.*?)\} VkFormat;", text, re.S).group(1)
    numbers = {}
    for name, value in re.findall(r"(VK_FORMAT_\w+)\s*=\s*(\w+)", body):
        numbers[name] = numbers[value] if value in numbers else int(value, 0)
    return {n: v for n, v in numbers.items() if n not in ("VK_FORMAT_UNDEFINED", "VK_FORMAT_MAX_ENUM")}


def tokens_of(name):
    """[(letter, bits)] as in the name: R10X6 gives [("R", 10), ("X", 6)]."""
    parts = [part for part in name.split("_") if re.fullmatch(r"(?:[RGBADSXE]\d+)+", part)]
    return [(letter, int(bits)) for part in parts for letter, bits in re.findall(r"([RGBADSXE])(\d+)", part)]


def numerics_of(name):
    """The numeric formats that the name states: one, or one each for depth and stencil."""
    return [NUMERIC[part] for part in name.split("_") if part in NUMERIC]


def numeric_of(name):
    numeric, = numerics_of(name)
    return numeric


def component(letter, numeric, bits, plane, offset, element):
    if letter == "A" and numeric == "kSrgb":
        numeric = "kUnorm"  # alpha is always linear
    return f"{{ComponentName::k{letter}, NumericFormat::{numeric}, {bits}, {plane}, {offset}, {element}}}"


def packed_places(tokens, word):
    """Words follow each other in memory; inside a word the first named component has the highest bits."""
    places, bit = [], 0
    for letter, bits in tokens:
        base = bit // word * word
        places.append((letter, bits, base + word - (bit - base) - bits))
        bit += bits
    assert bit % word == 0, tokens
    return places


def array_places(tokens):
    places, bit = [], 0
    for letter, bits in tokens:
        places.append((letter, bits, bit))
        bit += bits
    return places


def uncompressed(node, name):
    """The components of a format that is not compressed, as C++ initialisers, and the bits of a shared exponent."""
    packed = int(node.get("packed") or 0)
    tokens = tokens_of(name)
    listed = node.findall("component")
    named = [t for t in tokens if t[0] not in "XE"]
    assert len(named) == len(listed), name
    out = []
    if named[0][0] in "DS":  # each aspect is a plane of its own
        for plane, ((letter, bits), numeric) in enumerate(zip(named, numerics_of(name))):
            out.append(component(letter, numeric, bits, plane, 0, 32 if bits == 24 else bits))
        return out, 0
    numeric = numeric_of(name)
    planes = {c.get("name"): int(c.get("planeIndex") or 0) for c in listed}
    if any(c.get("planeIndex") for c in listed):
        used = {}
        for letter, bits in named:
            plane = planes[letter]
            element = packed or bits
            place = used.get(plane, 0)
            used[plane] = place + element
            out.append(component(letter, numeric, bits, plane, place + element - bits, element))
        return out, 0
    exponent = sum(bits for letter, bits in tokens if letter == "E")
    places = packed_places(tokens, packed) if packed else array_places(tokens)
    for letter, bits, offset in places:
        if letter not in "XE":
            out.append(component(letter, numeric, bits, 0, offset, packed or bits))
    return out, exponent


def compressed(node, name):
    out = []
    for c in node.findall("component"):
        bits = 0 if c.get("bits") == "compressed" else int(c.get("bits"))
        out.append(component(c.get("name"), numeric_of(name), bits, 0, 0, 0))
    return out


def planes_of(node, name):
    planes = [(p.get("compatible"), p.get("widthDivisor"), p.get("heightDivisor")) for p in node.findall("plane")]
    if planes:
        return planes
    tokens = [] if node.get("compressed") else tokens_of(name)
    if [t[0] for t in tokens] == ["D", "S"]:
        return [(DEPTH_ALONE[tokens[0][1]], 1, 1), ("VK_FORMAT_S8_UINT", 1, 1)]
    return [(name, 1, 1)]


def main():
    registry, header, output = sys.argv[1:]
    numbers = header_numbers(header)
    formats, classes = {}, []
    for node in ET.parse(registry).getroot().find("formats").findall("format"):
        name = node.get("name")
        if name not in numbers or NOT_HANDLED.search(name):
            continue
        if node.get("class") not in classes:
            classes.append(node.get("class"))
        extent = (node.get("blockExtent") or "1,1,1").split(",")
        texels = int(node.get("texelsPerBlock"))
        exponent = 0
        if node.get("compressed"):
            # The registry says 1 for PVRTC.
            texels = int(extent[0]) * int(extent[1]) * int(extent[2])
            components = compressed(node, name)
        else:
            components, exponent = uncompressed(node, VENDOR.sub("", name))
        planes = planes_of(node, name)
        plane_text = ", ".join(f"{{{f}, {w}, {h}}}" for f, w, h in planes)
        formats[numbers[name]] = (
            f'    {{"{name}",\n     {name}, {node.get("blockSize")}, {{{", ".join(extent)}}}, {texels}, '
            f'{classes.index(node.get("class"))}, Compression::{COMPRESSION[node.get("compressed")]}, '
            f'Chroma::{CHROMA[node.get("chroma")]}, {node.get("packed") or 0}, {exponent}, {len(planes)}, '
            f'{len(components)},\n     {{{plane_text}}},\n     {{{", ".join(components)}}}}},')

    order = sorted(formats)
    ranges = {}  # an extension's numbers are a thousand apart
    for index, number in enumerate(order):
        ranges.setdefault(number // 1000, {})[number] = index
    out = ["// Generated by gen_format_table.py from vk.xml. Do not edit.", "// clang-format off",
           '#include "backend/formats/format_table_data.h"\n', "namespace pumice::formats {\n",
           "const FormatInfo kFormats[] = {"]
    out += [formats[number] for number in order]
    out += ["};\n", f"const uint32_t kFormatCount = {len(order)};\n", "namespace {"]
    rows = []
    for key, members in ranges.items():
        first, last = min(members), max(members)
        cells = [str(members.get(n, "kNoFormat")) for n in range(first, last + 1)]
        out.append(f"constexpr uint16_t kIndices{key}[] = {{{', '.join(cells)}}};")
        rows.append(f"    {{{first}, {last - first + 1}, kIndices{key}}},")
    out += ["}  // namespace\n", "const FormatRange kRanges[] = {"] + rows
    out += ["};\n", f"const uint32_t kRangeCount = {len(rows)};\n", "const char* const kClassNames[] = {"]
    out += [f'    "{c}",' for c in classes]
    out += ["};\n", f"const uint32_t kClassCount = {len(classes)};\n", "}  // namespace pumice::formats"]
    with open(output, "w", encoding="utf-8") as f:
        f.write("\n".join(out) + "\n")


main()
