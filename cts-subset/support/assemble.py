"""Assembles SPIR-V text and writes it as a C array. usage: assemble.py SPIRV_AS NAME INPUT OUTPUT

The first line may ask for a newer environment: `;! vulkan1.1`.
"""
import pathlib
import struct
import subprocess
import sys

assembler, name, source, header = sys.argv[1:]
binary = header + ".spv"
first = pathlib.Path(source).read_text().partition("\n")[0]
environment = first.removeprefix(";!").strip() if first.startswith(";!") else "vulkan1.0"
subprocess.run([assembler, "--target-env", environment, source, "-o", binary], check=True)
data = pathlib.Path(binary).read_bytes()
words = struct.unpack(f"<{len(data) // 4}I", data)
lines = ["".join(f"0x{w:08x}," for w in words[i:i + 8]) for i in range(0, len(words), 8)]
pathlib.Path(header).write_text("#pragma once\nconst uint32_t k_%s[] = {\n%s\n};\n" % (name, "\n".join(lines)))
