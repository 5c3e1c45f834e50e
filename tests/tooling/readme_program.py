#!/usr/bin/env python3
"""Writes the README's first C++ block to a file, as it stands.

Usage: readme_program.py README.md OUTPUT.cpp
Fails if there is none, or if it is not what the README promises: a whole
program of under 25 lines.
"""

import pathlib
import re
import sys

LINES_MAX = 24


def main() -> int:
    readme, output = map(pathlib.Path, sys.argv[1:])
    block = re.search(r"^```cpp\n(.*?)^```$", readme.read_text(), re.M | re.S)
    if block is None:
        print(f"{readme} shows no C++ program (a block opened by ```cpp).")
        return 1
    program = block[1]
    lines = len(program.splitlines())
    if lines > LINES_MAX:
        print(f"The first program has {lines} lines; at most {LINES_MAX} are promised.")
        return 1
    output.write_text(program)
    return 0


if __name__ == "__main__":
    sys.exit(main())
