#!/usr/bin/env python3
"""Sees each rule of tidy_test.py hold on a sound tree and fail on a broken one."""

import pathlib
import tempfile
import unittest

import tidy_test

SOUND = {
    "runtime/include/wharf/port.hpp": "// Publishes the node [P1].\n",
    "runtime/include/wharf/detail/sync.hpp": "#include <mutex>\nstd::mutex m;\n",
    "runtime/src/port.cpp": "// Meets [P1].\n"
                            "// Not std::mutex or <atomic>.\n"
                            "int n = 1'000; auto s = \"std::atomic<int>\";\n"
                            "auto r = R\"x(std::mutex \")x\"; int v = a[N2];\n",
    "runtime/src/log.cpp": "#include <spdlog/spdlog.h>\n",
    "runtime/src/ready_queue.hpp": "#include <boost/lockfree/queue.hpp>\n",
    "arbiters/include/wharf/join.hpp": "std::thread t;\n",
    "arbiters/include/wharf/wharf.hpp": "#include <wharf/join.hpp>\n",
    "adapters/asio/include/wharf/asio/token.hpp": "#include <boost/asio.hpp>\n",
    "adapters/asio/include/wharf/asio/detail/part.hpp": "// Private.\n",
    "tests/asio/token_test.cpp": "#include <gtest/gtest.h>\n",
    "samples/service/main.cpp": "keyed_mutex<int> monitors; options.threads = 2;\n",
    "tests/runtime/port_test.cpp": "#include <gtest/gtest.h>\nstd::mutex m;\n"
                                   "co_await wharf::sleep_for(1ms);\n",
    "tests/arbiters/join_test.cpp": "pool.sleep(1);\n",
    "README.md": "A mutex, a thread, [P2].\n",
}

# Rule, file, text added to it (or None: the file is removed).
BROKEN = [
    ("primitives_in_one_header", "runtime/src/port.cpp", "std::mutex m;\n"),
    ("primitives_in_one_header", "runtime/src/port.cpp", "std::atomic<int> a;\n"),
    ("primitives_in_one_header", "runtime/src/port.cpp", "#include <atomic>\n"),
    ("primitives_in_one_header", "arbiters/include/wharf/join.hpp",
     "std::condition_variable_any c;\n"),
    ("primitives_in_one_header", "arbiters/include/wharf/join.hpp",
     "#include <shared_mutex>\n"),
    ("primitives_in_one_header", "adapters/asio/src/token.cpp", "std::mutex m;\n"),
    ("samples_without_primitives", "samples/service/main.cpp", "using std::mutex;\n"),
    ("samples_without_primitives", "samples/service/main.cpp", "atomic<int> a;\n"),
    ("samples_without_primitives", "samples/service/main.cpp", "std::jthread t;\n"),
    ("samples_without_primitives", "samples/service/main.cpp", "#include <thread>\n"),
    ("samples_without_primitives", "samples/service/main.cpp",
     "#include <condition_variable>\n"),
    ("packages_in_their_place", "runtime/src/port.cpp", "#include <spdlog/spdlog.h>\n"),
    ("packages_in_their_place", "runtime/src/port.cpp", "#include <gtest/gtest.h>\n"),
    ("packages_in_their_place", "runtime/include/wharf/port.hpp",
     "#include <boost/asio.hpp>\n"),
    ("packages_in_their_place", "runtime/src/port.cpp",
     "#include <boost/lockfree/queue.hpp>\n"),
    ("packages_in_their_place", "tests/runtime/port_test.cpp", "#include <tbb/tbb.h>\n"),
    ("packages_in_their_place", "runtime/src/port.cpp", "#include \"CLI/CLI.hpp\"\n"),
    ("no_sleeps_in_tests", "tests/runtime/port_test.cpp",
     "std::this_thread::sleep_for(1ms);\n"),
    ("no_sleeps_in_tests", "tests/runtime/port_test.cpp", "usleep(10);\n"),
    ("no_sleeps_in_tests", "tests/runtime/port_test.cpp", "sleep(1);\n"),
    ("packages_in_their_place", "adapters/asio/src/token.cpp",
     "#include <spdlog/spdlog.h>\n"),
    ("one_header_per_name", "arbiters/include/wharf/port.hpp", "// Twice.\n"),
    ("one_header_per_name", "adapters/asio/include/wharf/port.hpp", "// Twice.\n"),
    ("each_header_tested", "tests/runtime/port_test.cpp", None),
    ("each_header_tested", "arbiters/include/wharf/choice.hpp", "// Untested.\n"),
    ("each_header_tested", "tests/asio/token_test.cpp", None),
    ("file_budget", "runtime/src/port.cpp", "\n" * tidy_test.FILE_LINES_MAX),
    ("labels_at_both_ends", "runtime/src/port.cpp", "int i; // Meets [Q7].\n"),
    ("nothing_left_open", "README.md", "TO" "DO: write this.\n"),
    ("nothing_left_open", "runtime/src/port.cpp", "// FIX" "ME\n"),
]


def rules_broken_in(files: dict[str, str]) -> set[str]:
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return {violation.rule for violation in tidy_test.check(root)}


class TidyTest(unittest.TestCase):
    def test_a_sound_tree_passes(self):
        self.assertEqual(rules_broken_in(SOUND), set())

    def test_each_violation_is_found(self):
        for rule, path, added in BROKEN:
            with self.subTest(rule=rule, path=path, added=added):
                files = dict(SOUND)
                if added is None:
                    del files[path]
                else:
                    files[path] = files.get(path, "") + added
                self.assertIn(rule, rules_broken_in(files))

    def test_each_rule_is_broken_once(self):
        rules = {rule.__name__ for rule in tidy_test.CPP_RULES + tidy_test.TEXT_RULES}
        self.assertEqual({rule for rule, _, _ in BROKEN}, rules)


if __name__ == "__main__":
    unittest.main()
