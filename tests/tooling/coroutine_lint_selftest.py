#!/usr/bin/env python3
"""Sees coroutine_lint.py find each trap where it is, and nothing else."""

import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent

# Lines that end with "// R..." are to be found as that.
PROGRAM = """\
#include <wharf/wharf.hpp>
#include <array>
#include <string>

using namespace wharf;

struct options {
  std::string name;
  int size = 0;
};
task<int> use(options);
task<int> use(std::array<std::string, 1>);
template <class F> task<int> call(F f) { co_return f(); }

task<int> traps(std::string text, bool known) {
  int n = co_await call([text] { return 1; }); // R1a
  n += co_await use(options{.name = text}); // R1b
  n += co_await use(std::array<std::string, 1>{text}); // R1b
  options o{text, co_await call([] { return 1; })}; // R1c
  const std::string t = known ? text : std::string(co_await use(o), 'x'); // R2
  if (co_await use(o) == 1) n = 0; // R12
  while (co_await use(o) == 1) n = 0; // R12
  do n = 0; while (n == co_await use(o)); // R12
  for (; co_await use(o) == 1;) n = 0; // R12
  switch (co_await use(o)) { default: n = 0; } // R12
  co_return n + co_await call([text] { return 1; }); // coroutine-lint: a test
}

task<int> sound(std::string text, bool known, port<int> numbers) {
  const auto f = [text] { return 1; };
  int n = co_await call(f);
  n += co_await call([&text, known] { return known ? 1 : int(text.size()); });
  const options o{text, 1};
  n += co_await use(o);
  n += known ? co_await receive(numbers) : 0;
  if (int got = co_await receive(numbers); got == 0) n = 0;
  for (int i = co_await receive(numbers); i < 1; i += co_await call(f)) n = i;
  co_return n + int((co_await choice(receive(numbers), after(1s))).index());
}
"""


def main() -> int:
    expected, program = set(), PROGRAM.replace("1s)", "std::chrono::seconds{1})")
    for number, line in enumerate(program.splitlines(), 1):
        comment = line.rpartition("// ")[2]
        if comment.startswith("R"):
            expected.add((number, comment))
    with tempfile.TemporaryDirectory(dir=HERE) as folder:
        source = pathlib.Path(folder) / "program.cpp"
        source.write_text(program)
        run = subprocess.run(
            [sys.executable, HERE / "coroutine_lint.py", HERE.parent.parent, source],
            capture_output=True, text=True, check=False)
    found = set()
    for line in run.stdout.splitlines()[:-1]:
        _, number, rule = line.split(":")
        found.add((int(number), rule.strip().partition("-")[0]))
    for what, lines in (("missed", expected - found), ("imagined", found - expected)):
        for number, rule in sorted(lines):
            print(f"the coroutine lint {what} {rule} in line {number} of {__file__}")
    return int(found != expected or run.returncode != 1)


if __name__ == "__main__":
    sys.exit(main())
