"""Reads vk.xml into plain Python objects for the generators of this folder.

Only the "vulkan" API is kept: vulkansc variants, provisional extensions and platform-guarded ones (except those in
PLATFORMS) are dropped, so that generated code needs nothing but icd/wsi/platform_types.h. Written against 1.3.239; newer
registries mark variants with api= attributes and split the core into vulkanbase features, both handled here.
"""
import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field

# Platforms whose entry points are generated as well: those of icd/wsi.
PLATFORMS = ("xcb", "xlib", "wayland")


def is_vulkan(node):
    api = node.get("api")
    return api is None or any(a in ("vulkan", "vulkanbase") for a in api.split(","))


@dataclass
class Member:
    type: str
    name: str
    declaration: str  # as in C, without a trailing semicolon
    is_pointer: bool
    array: str  # the text between brackets, "" if no array
    values: str


@dataclass
class Struct:
    name: str
    members: list
    extends: list
    stype: str


@dataclass
class Command:
    name: str
    result: str
    params: list
    aliases: list = field(default_factory=list)


@dataclass
class Gate:
    """What makes a command name available: a core version or any one of some extensions."""
    version: tuple = None
    extensions: list = field(default_factory=list)


@dataclass
class Extension:
    name: str
    kind: str  # "instance" or "device"
    spec_version: str
    promoted: str


class Registry:
    def __init__(self, path):
        self.root = ET.parse(path).getroot()
        self.structs = {}
        self.struct_alias = {}
        self.commands = {}
        self.command_alias = {}
        self.gates = {}
        self.extensions = {}
        self.available_types = set()
        self.enum_protected = set()
        self._read_requires()
        self._read_types()
        self._read_commands()
        self._read_extension_constants()

    # -- which names exist in the headers -----------------------------------------------------------------------
    def _read_requires(self):
        for feature in self.root.iter("feature"):
            if not is_vulkan(feature):
                continue
            major, minor = (int(x) for x in feature.get("number").split("."))
            for require in feature.findall("require"):
                if not is_vulkan(require):
                    continue
                for node in require:
                    if node.tag == "command":
                        self.gates.setdefault(node.get("name"), Gate()).version = (major, minor)
                    elif node.tag == "type":
                        self.available_types.add(node.get("name"))
        for ext in self.root.find("extensions").findall("extension"):
            supported = (ext.get("supported") or "").split(",")
            if "vulkan" not in supported or ext.get("provisional") == "true":
                continue
            platform = ext.get("platform")
            if platform is not None and platform not in PLATFORMS:
                continue
            self.extensions[ext.get("name")] = Extension(ext.get("name"), ext.get("type"), "", ext.get("promotedto"))
            for require in ext.findall("require"):
                if not is_vulkan(require):
                    continue
                for node in require:
                    if node.tag == "command":
                        gate = self.gates.setdefault(node.get("name"), Gate())
                        if ext.get("name") not in gate.extensions:
                            gate.extensions.append(ext.get("name"))
                    elif node.tag == "type":
                        self.available_types.add(node.get("name"))
                    elif node.tag == "enum" and (node.get("name") or "").endswith("_SPEC_VERSION"):
                        self.extensions[ext.get("name")].spec_version = node.get("name")

    # -- structures -------------------------------------------------------------------------------------------
    def _read_types(self):
        for node in self.root.find("types").findall("type"):
            if node.get("category") != "struct" or not is_vulkan(node):
                continue
            name = node.get("name")
            if node.get("alias"):
                self.struct_alias[name] = node.get("alias")
                continue
            members, stype = [], ""
            for m in node.findall("member"):
                if not is_vulkan(m):
                    continue
                member = self._member(m)
                if member.name == "sType" and member.values:
                    stype = member.values
                members.append(member)
            extends = (node.get("structextends") or "").split(",")
            self.structs[name] = Struct(name, members, extends, stype)
        # A structure counts as available when it or an alias of it is required by something that is kept.
        for alias, target in self.struct_alias.items():
            if alias in self.available_types:
                self.available_types.add(target)

    @staticmethod
    def _member(node):
        for comment in node.findall("comment"):
            tail = comment.tail or ""
            node.remove(comment)
            if len(node):
                node[-1].tail = (node[-1].tail or "") + tail
        text = " ".join("".join(node.itertext()).split())
        name = node.find("name").text
        after = text[text.rindex(name) + len(name):] if name in text else ""
        array = "".join(re.findall(r"\[([^\]]*)\]", after))
        return Member(node.find("type").text, name, text, "*" in text, array, node.get("values") or "")

    # -- commands ---------------------------------------------------------------------------------------------
    def _read_commands(self):
        for node in self.root.find("commands").findall("command"):
            if not is_vulkan(node):
                continue
            if node.get("alias"):
                self.command_alias[node.get("name")] = node.get("alias")
                continue
            proto = node.find("proto")
            params = [self._member(p) for p in node.findall("param") if is_vulkan(p)]
            name = proto.find("name").text
            self.commands[name] = Command(name, proto.find("type").text, params)
        for alias, target in self.command_alias.items():
            while target in self.command_alias:
                target = self.command_alias[target]
            if target in self.commands:
                self.commands[target].aliases.append(alias)

    def _read_extension_constants(self):
        for ext in self.extensions.values():
            if not ext.spec_version:
                ext.spec_version = "1"

    def usable_commands(self):
        """Commands that vulkan_core.h declares under their own name or an alias' name, in order of name."""
        return [c for n, c in sorted(self.commands.items()) if n in self.gates or any(a in self.gates for a in c.aliases)]

    @staticmethod
    def level(command):
        """global, instance, physical or device: by the type of the first parameter, as the loader does it."""
        first = command.params[0].type if command.params else ""
        if command.name in ("vkGetInstanceProcAddr",):
            return "instance"
        return {"VkInstance": "instance", "VkPhysicalDevice": "physical", "VkDevice": "device", "VkQueue": "device",
                "VkCommandBuffer": "device"}.get(first, "global")


def write_if_changed(path, text):
    """Keeps the time stamp of a file whose text stays the same, so that nothing is rebuilt."""
    try:
        with open(path, encoding="utf-8") as old:
            if old.read() == text:
                return
    except FileNotFoundError:
        pass
    with open(path, "w", encoding="utf-8") as new:
        new.write(text)
