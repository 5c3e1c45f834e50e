#!/usr/bin/env python3
"""The house rules that no compiler checks.

Usage: tidy_test.py ROOT
Prints each violation as PATH:LINE: RULE: sentence and fails if there is one.
tidy_selftest.py breaks each rule once, to see that it can be broken.
"""

import collections
import dataclasses
import os
import pathlib
import re
import sys

FILE_LINES_MAX = 400

CPP_SUFFIXES = {".hpp", ".cpp"}
TEXT_SUFFIXES = CPP_SUFFIXES | {".md", ".cmake", ".txt", ".py", ".json", ".in"}
TEXT_NAMES = {"dev", "run", "Doxyfile"}

LIBRARY = re.compile(r"(runtime|arbiters|adapters/\w+)/")
SAMPLES = re.compile(r"samples/")
TESTS = re.compile(r"tests/")
SYNC_HEADER = "runtime/include/wharf/detail/sync.hpp"
PUBLIC_HEADER = re.compile(r"(runtime|arbiters)/include/wharf/([^/]+)\.hpp$"
                           r"|adapters/(\w+)/include/wharf/\3/([^/]+)\.hpp$")
UMBRELLA = "wharf"

PRIMITIVE_HEADERS = {"atomic", "barrier", "condition_variable", "latch", "mutex",
                     "semaphore", "shared_mutex"}
PRIMITIVE = (r"(\w+_)?mutex|atomic(_\w+)?|condition_variable(_any)?|barrier|latch"
             r"|(counting|binary)_semaphore")
STD_PRIMITIVE = re.compile(rf"\bstd::({PRIMITIVE})\b")
SAMPLE_PRIMITIVE = re.compile(
    rf"\b(std::({PRIMITIVE})|mutex|shared_mutex|atomic(_\w+)?"
    r"|condition_variable(_any)?)\b")
THREAD = re.compile(r"\b(j?thread|this_thread|pthread_\w+)\b")
SLEEP = re.compile(r"\bthis_thread\s*::\s*sleep\w*|\b(usleep|nanosleep)\b"
                   r"|(?<![\w.>:])sleep\s*\(")
LABEL = re.compile(r"\[[A-Z][0-9]+\]")
LEFT_OPEN = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")

# Where each package may be included. A header that users see includes none, but
# those of an adapter that of the package which it binds to.
PACKAGES = [
    (re.compile(r"(spdlog|fmt)/"), re.compile(r"runtime/src/log\.[ch]pp$")),
    (re.compile(r"(gtest|gmock)/"), re.compile(r"tests/")),
    (re.compile(r"(tbb|oneapi)/"), re.compile(r"bench/")),
    (re.compile(r"CLI/"), re.compile(r"samples/")),
    (re.compile(r"boost/"),
     re.compile(r"(runtime|arbiters)/src/|adapters/|samples/|tests/|bench/")),
]
LOCKFREE = re.compile(r"boost/lockfree/")

# Numbers come before characters, or the ' in 1'000 would open a literal.
CPP_TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
      | (?P<raw>R"(?P<tag>[^()\s\\]*)\(.*?\)(?P=tag)")
      | (?P<string>"(?:\\.|[^"\\\n])*")
      | (?P<number>\b[0-9][\w'.]*)
      | (?P<character>'(?:\\.|[^'\\\n])*')""",
    re.S | re.X)
INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"]([^>\"]+)[>\"]", re.M)


@dataclasses.dataclass(frozen=True)
class Violation:
    path: str
    line: int
    rule: str
    sentence: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.rule}: {self.sentence}"


class Source:
    """A text file. Of C++ also its images: the same text with all but the code,
    or all but the comments, blanked, so that every line keeps its number."""

    def __init__(self, root: pathlib.Path, path: str):
        self.path = path
        self.text = (root / path).read_text(encoding="utf-8", errors="replace")
        self.is_cpp = pathlib.PurePath(path).suffix in CPP_SUFFIXES
        if self.is_cpp:
            self.code = self._blanked({"comment", "raw", "string", "character"})
            self.comments = self._blanked({"raw", "string", "number", "character"},
                                          between=True)
            self.includes = [
                (self.line_of(match.start(1)), match[1])
                for match in INCLUDE.finditer(self._blanked({"comment", "raw"}))]

    def _blanked(self, kinds: set[str], between: bool = False) -> str:
        """The text without tokens of these kinds, and without what is between
        the tokens if so asked."""

        def blank(text: str) -> str:
            return re.sub(r"[^\n]", " ", text)

        image, end = [], 0
        for token in CPP_TOKEN.finditer(self.text):
            gap = self.text[end:token.start()]
            image.append(blank(gap) if between else gap)
            image.append(blank(token[0]) if token.lastgroup in kinds else token[0])
            end = token.end()
        image.append(blank(self.text[end:]) if between else self.text[end:])
        return "".join(image)

    def line_of(self, offset: int) -> int:
        return self.text.count("\n", 0, offset) + 1

    def find(self, pattern: re.Pattern, image: str):
        """Line and text of each match in an image of the text."""
        for match in pattern.finditer(image):
            yield self.line_of(match.start()), match[0]


def read_tree(root: pathlib.Path) -> list[Source]:
    sources = []
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = sorted(name for name in subfolders
                               if name not in {".git", "build"})
        for name in sorted(names):
            if pathlib.PurePath(name).suffix in TEXT_SUFFIXES or name in TEXT_NAMES:
                path = pathlib.Path(folder, name).relative_to(root).as_posix()
                sources.append(Source(root, path))
    return sources


def primitives_in_one_header(cpp: list[Source]):
    """Only detail/sync.hpp names synchronisation primitives."""
    for source in cpp:
        if not LIBRARY.match(source.path) or source.path == SYNC_HEADER:
            continue
        for line, header in source.includes:
            if header in PRIMITIVE_HEADERS:
                yield source.path, line, f"<{header}> belongs in {SYNC_HEADER}"
        for line, name in source.find(STD_PRIMITIVE, source.code):
            yield source.path, line, f"{name} belongs in {SYNC_HEADER}"


def samples_without_primitives(cpp: list[Source]):
    """Samples synchronise by messages."""
    for source in cpp:
        if not SAMPLES.match(source.path):
            continue
        for line, header in source.includes:
            if header in PRIMITIVE_HEADERS or header == "thread":
                yield source.path, line, f"a sample includes <{header}>"
        for line, name in source.find(SAMPLE_PRIMITIVE, source.code):
            yield source.path, line, f"a sample names {name}"
        for line, name in source.find(THREAD, source.code):
            yield source.path, line, f"a sample names {name}"


def packages_in_their_place(cpp: list[Source]):
    """Each package is included in one place, and in no public header."""
    lockfree = []
    for source in cpp:
        for line, header in source.includes:
            for package, home in PACKAGES:
                if package.match(header) and not home.match(source.path):
                    yield source.path, line, f"<{header}> is not to be included here"
            if LOCKFREE.match(header) and LIBRARY.match(source.path):
                lockfree.append((source.path, line))
    first = lockfree[0][0] if lockfree else None
    for path, line in lockfree:
        if path != first:
            yield path, line, f"Boost.Lockfree is included in {first} already"


def no_sleeps_in_tests(cpp: list[Source]):
    """A test that sleeps rests on timing."""
    for source in cpp:
        if TESTS.match(source.path):
            for line, name in source.find(SLEEP, source.code):
                yield source.path, line, f"a test must not sleep ({name.strip()})"


def one_header_per_name(cpp: list[Source]):
    """Of two equal relative paths the first -I wins without a warning."""
    roots = collections.defaultdict(list)
    for source in cpp:
        match = re.match(r"(?:runtime|arbiters|adapters/\w+)/include/(.+)",
                         source.path)
        if match:
            roots[match[1]].append(source.path)
    for name, paths in roots.items():
        for path in paths[1:]:
            yield path, 1, f"<{name}> is {paths[0]} already"


def each_header_tested(cpp: list[Source]):
    """Nobody searches for the test of a header."""
    paths = {source.path for source in cpp}
    for path in sorted(paths):
        match = PUBLIC_HEADER.match(path)
        folder, stem = filter(None, match.groups()) if match else (None, UMBRELLA)
        if stem != UMBRELLA:
            test = f"tests/{folder}/{stem}_test.cpp"
            if test not in paths:
                yield path, 1, f"has no {test}"


def labels_at_both_ends(sources: list[Source]):
    """A label such as [P1] leads from one place to another."""
    places = collections.defaultdict(list)
    for source in sources:
        if source.is_cpp or source.path.startswith("docs/"):
            # In code, a[N1] is an index.
            image = source.comments if source.is_cpp else source.text
            for line, label in source.find(LABEL, image):
                places[label].append((source, line))
    for label, found in places.items():
        source, line = found[0]
        if len(found) == 1 and source.is_cpp:
            yield source.path, line, f"{label} is written nowhere else"


def file_budget(cpp: list[Source]):
    """A file that outgrows its budget usually holds two concepts."""
    for source in cpp:
        lines = source.text.count("\n")
        if LIBRARY.match(source.path) and lines > FILE_LINES_MAX:
            yield source.path, lines, f"{lines} lines; at most {FILE_LINES_MAX}"


def nothing_left_open(sources: list[Source]):
    """What is not done is an issue, not a note in the text."""
    for source in sources:
        for line, word in source.find(LEFT_OPEN, source.text):
            yield source.path, line, f"{word}: do it, or file it"


CPP_RULES = [primitives_in_one_header, samples_without_primitives,
             packages_in_their_place, no_sleeps_in_tests, one_header_per_name,
             each_header_tested, file_budget]
TEXT_RULES = [labels_at_both_ends, nothing_left_open]


def check(root: pathlib.Path) -> list[Violation]:
    sources = read_tree(root)
    cpp = [source for source in sources if source.is_cpp]
    return [Violation(path, line, rule.__name__, sentence)
            for rules, files in ((CPP_RULES, cpp), (TEXT_RULES, sources))
            for rule in rules
            for path, line, sentence in rule(files)]


def main() -> int:
    violations = check(pathlib.Path(sys.argv[1]))
    for violation in violations:
        print(violation)
    return int(bool(violations))


if __name__ == "__main__":
    sys.exit(main())
