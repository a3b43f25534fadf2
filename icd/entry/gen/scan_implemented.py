"""Lists the entry points that the driver defines: every `VKAPI_ATTR <type> VKAPI_CALL vkXxx(` at the start of a line.

usage: scan_implemented.py OUTPUT SOURCE...
An entry point exists because its definition exists: nothing else has to be edited to add one.
"""
import re
import sys

from registry import write_if_changed

DEFINITION = re.compile(r"^VKAPI_ATTR\s+[\w:]+\s*\*?\s*VKAPI_CALL\s+(vk\w+)\s*\(", re.MULTILINE)


def main():
    names = {}
    for path in sys.argv[2:]:
        with open(path, encoding="utf-8") as source:
            for name in DEFINITION.findall(source.read()):
                if name in names:
                    sys.exit(f"{path}: {name} is already defined in {names[name]}")
                names[name] = path
    write_if_changed(sys.argv[1], "".join(f"{n}\n" for n in sorted(names)))


main()
