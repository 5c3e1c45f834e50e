#!/usr/bin/env python3
"""Looks for shapes of co_await that g++ 12 miscompiles.

Usage: coroutine_lint.py ROOT [FILE...]
Runs clang-query-19 with cmake/coroutines.query over the given sources, or over
all of the project that await something. A place that is known to be safe says
so at the end of its line: `// coroutine-lint: why`.
"""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

FOLDERS = ("runtime", "arbiters", "adapters", "samples", "tests", "bench")
AWAITS = re.compile(r"\bco_(await|yield)\b")
FINDING = re.compile(r'^(.+?):(\d+):\d+: note: "(R[^"]+)" binds here')
# What stands there is bad on purpose, or not built by itself.
LEFT_OUT = ("tests/conformance/", "tests/tooling/")


def sources(root: pathlib.Path) -> list[pathlib.Path]:
    found = []
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*.cpp")):
            left_out = path.relative_to(root).as_posix().startswith(LEFT_OUT)
            if not left_out and AWAITS.search(path.read_text()):
                found.append(path)
    return found


def flags(root: pathlib.Path) -> list[str]:
    folders = [root / "tests", root / "samples"]
    folders += sorted(root.glob("*/include")) + sorted(root.glob("adapters/*/include"))
    folders += sorted(root.glob("adapters/*/src"))
    return ["-std=c++20", "-w"] + [f"-I{folder}" for folder in folders]


def check(root: pathlib.Path, source: pathlib.Path) -> tuple[list[str], str]:
    run = subprocess.run(
        ["clang-query-19", "-f", root / "cmake/coroutines.query", source, "--"]
        + flags(root),
        capture_output=True, text=True, check=False)
    findings = []
    for line in run.stdout.splitlines():
        match = FINDING.match(line)
        if match is None or not match[1].startswith(str(root)):
            continue
        path = pathlib.Path(match[1])
        text = path.read_text().splitlines()[int(match[2]) - 1]
        if "// coroutine-lint:" not in text:
            findings.append(f"{path.relative_to(root)}:{match[2]}: {match[3]}")
    broken = [l for l in run.stderr.splitlines() if ": error:" in l or ": fatal error:" in l]
    return findings, "\n".join(broken)


def main() -> int:
    root = pathlib.Path(sys.argv[1]).resolve()
    chosen = [pathlib.Path(name).resolve() for name in sys.argv[2:]] or sources(root)
    findings, broken = set(), []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for found, errors in pool.map(lambda s: check(root, s), chosen):
            findings.update(found)
            if errors:
                broken.append(errors)
    for line in sorted(findings) + broken:
        print(line)
    print(f"coroutine lint: {len(chosen)} files, {len(findings)} findings")
    return 1 if findings or broken else 0


if __name__ == "__main__":
    sys.exit(main())
