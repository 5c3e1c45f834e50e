#!/usr/bin/env python3
"""Writes each whole program that a page shows to a file of its own.

Usage: doc_programs.py DOCS_FOLDER OUTPUT_FOLDER
A whole program is a C++ block that has a main(). The compiler names its lines
as those of the page. Fails if there is none.
"""

import pathlib
import re
import sys

BLOCK = re.compile(r"^```cpp\n(.*?)^```$", re.M | re.S)
MAIN = re.compile(r"^int main\(", re.M)


def main() -> int:
    docs, output = map(pathlib.Path, sys.argv[1:])
    output.mkdir(parents=True, exist_ok=True)
    stale = set(output.glob("*.cpp"))
    written = 0
    for page in sorted(docs.glob("*.md")):
        text = page.read_text()
        programs = [block for block in BLOCK.finditer(text) if MAIN.search(block[1])]
        for number, block in enumerate(programs, 1):
            line = text.count("\n", 0, block.start(1)) + 1
            program = output / f"{page.stem}_{number}.cpp"
            program.write_text(f'#line {line} "{page}"\n{block[1]}')
            stale.discard(program)
            written += 1
    for program in stale:
        program.unlink()
    if written == 0:
        print(f"No page of {docs} shows a whole program.")
    return int(written == 0)


if __name__ == "__main__":
    sys.exit(main())
