#!/usr/bin/env python3
"""Writes each whole program that a page shows to a file of its own.

Usage: doc_programs.py DOCS_FOLDER SAMPLES_FOLDER OUTPUT_FOLDER
A whole program is a C++ block that has a main(). The compiler numbers its lines
as the page does. A block that repeats a sample is left to the sample's tests.
Fails if there is none.
"""

import pathlib
import re
import sys

BLOCK = re.compile(r"^```cpp\n(.*?)^```$", re.M | re.S)
MAIN = re.compile(r"^int main\(", re.M)


def main() -> int:
    docs, samples, output = map(pathlib.Path, sys.argv[1:])
    tested = {sample.read_text() for sample in samples.rglob("*.cpp")}
    output.mkdir(parents=True, exist_ok=True)
    stale = set(output.glob("*.cpp"))
    written = 0
    for page in sorted(docs.glob("*.md")):
        text = page.read_text()
        programs = [
            block
            for block in BLOCK.finditer(text)
            if MAIN.search(block[1]) and block[1] not in tested
        ]
        for number, block in enumerate(programs, 1):
            line = text.count("\n", 0, block.start(1)) + 1
            program = output / f"{page.stem}_{number}.cpp"
            program.write_text(f"#line {line}\n{block[1]}")
            stale.discard(program)
            written += 1
    for program in stale:
        program.unlink()
    if written == 0:
        print(f"No page of {docs} shows a whole program.")
    return int(written == 0)


if __name__ == "__main__":
    sys.exit(main())
