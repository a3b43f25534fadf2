#!/usr/bin/env python3
"""Writes a header with a hash of everything that decides what the shader compiler produces and how the driver talks to it.

usage: build_id.py OUTPUT SALT FOLDER...
The output is only touched when the hash changes, so nothing is rebuilt without need.
"""
import hashlib
import pathlib
import sys


def main() -> int:
    output, salt, folders = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
    digest = hashlib.sha256(salt.encode())
    for folder in folders:
        root = pathlib.Path(folder)
        for path in sorted(root.rglob("*")):
            if path.suffix not in {".h", ".cpp", ".def", ".txt"} or path.name.endswith("_test.cpp"):
                continue
            digest.update(str(path.relative_to(root)).encode())
            digest.update(path.read_bytes())
    text = f'#define PUMICE_BUILD_ID "{digest.hexdigest()[:40]}"\n'
    if not output.exists() or output.read_text() != text:
        output.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
