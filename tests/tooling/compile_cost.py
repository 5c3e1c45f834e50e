#!/usr/bin/env python3
"""Runs a compiler command and fails if it costs more than the budget.

Usage: compile_cost.py --seconds S --megabytes M -- COMMAND...
The cost is processor time (user + system) and peak memory, the best of three
runs, or of up to twelve while that is above the budget: a busy machine inflates
both the caches' misses and the clock, for seconds on end.
"""

import argparse
import os
import subprocess
import sys

RUNS_MIN, RUNS_MAX = 3, 12


def cost(command: list[str]) -> tuple[float, float]:
    """Seconds and megabytes of one run, the compiler's children included."""
    process = subprocess.Popen(command)
    # wait4 and not getrusage(RUSAGE_CHILDREN), whose peak is that of all runs.
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit status {process.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--megabytes", type=float, required=True)
    parser.add_argument("command", nargs="+")
    budget = parser.parse_args()

    seconds = megabytes = float("inf")
    for run in range(RUNS_MAX):
        if run >= RUNS_MIN and seconds <= budget.seconds:
            break
        latest = cost(budget.command)
        seconds, megabytes = min(seconds, latest[0]), min(megabytes, latest[1])
    print(f"{seconds:.2f} s of {budget.seconds} s, "
          f"{megabytes:.0f} MB of {budget.megabytes:.0f} MB")
    return int(seconds > budget.seconds or megabytes > budget.megabytes)


if __name__ == "__main__":
    sys.exit(main())
