# SPDX-License-Identifier: Apache-2.0
"""under_load.py --bin FOLDER [--searches N]: can headlines be trusted that were measured on a busy machine?

Runs short searches of the bundled tasks on the CPU beside busy processes, two more than there are processors. Then,
without them, measures each result again in a fresh process, and PyTorch's own ways anew. Prints both speedups with
their 95 % intervals, and ends with exit code 1 if a headline that was not marked as uncertain lies outside: if the
interval that was announced and the one that was found later do not meet.

A quiet machine is needed for the second half. --project keeps the records; --searches 2 takes about two minutes.
"""

import argparse
import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

# Sizes for a laptop; several shapes of each task.
TASKS = {
    "softmax_rows": ({"rows": 512}, {"rows": 64, "columns": 4096}, {"rows": 2048, "columns": 256}),
    "swish_gate": ({"rows": 64}, {"rows": 512}, {"rows": 1024, "columns": 2048}),
    "rms_norm_residual": ({}, {"tokens": 256}, {"tokens": 2048, "width": 512}),
    "layer_norm_gelu": ({"tokens": 512}, {"tokens": 64}, {"tokens": 1024, "width": 1024}),
    "column_sum": ({}, {"rows": 2048, "columns": 256}, {"batch_size": 2}),
    "cross_entropy": ({"batch_size": 256}, {"batch_size": 1024}, {"batch_size": 64, "classes": 4096}),
    "batch_norm_train": ({"batch_size": 4}, {"channels": 8}, {"side": 24}),
}
# The exit code of a search that found no correct kernel: in a short one on a busy machine that happens.
NOTHING_FOUND = 6
# Wider than this to each side is shown as uncertain (core/domain/speedup.h).
WIDEST_HALF = 0.2


class Speedup:
    """A value with its interval; `value` 0: not known."""

    def __init__(self, value, low, high):
        self.value, self.low, self.high = value or 0.0, low or 0.0, high or 0.0

    @property
    def is_uncertain(self):
        """Whether Swage shows it as uncertain."""
        return self.value > 0 and (self.high - self.low) / 2 > WIDEST_HALF * self.value

    def times(self, other):
        """The product, end by end."""
        return Speedup(self.value * other.value, self.low * other.low, self.high * other.high)

    def meets(self, other, slack):
        """Whether the intervals overlap, each stretched by `slack`."""
        return self.low * (1 - slack) <= other.high * (1 + slack) and other.low * (1 - slack) <= self.high * (1 + slack)

    def __str__(self):
        mark = "~" if self.is_uncertain else ""
        return f"{mark}{self.value:.2f}x ({self.low:.2f} to {self.high:.2f})" if self.value else "-"


class Load:
    """Processes that do nothing but keep a processor busy."""

    def __init__(self, count):
        busy = "while True: pass"
        self._processes = [subprocess.Popen([sys.executable, "-c", busy]) for _ in range(count)]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.wait()


def searches(root, count):
    """`count` pairs of a task file and the constants to set, the tasks in turn."""
    turns = itertools.zip_longest(*([(name, sizes) for sizes in all_sizes] for name, all_sizes in TASKS.items()))
    pairs = [pair for turn in turns for pair in turn if pair]
    for number in range(count):
        name, sizes = pairs[number % len(pairs)]
        yield root / "resources" / "tasks" / f"{name}.py", sizes, number


class Swage:
    """The command line."""

    def __init__(self, options, folder):
        self._program = os.path.join(options.bin, "swage")
        self._folder = folder

    def ask(self, *arguments, codes=(0,)):
        """The JSON document that a command prints; exits with its message where it fails."""
        command = [self._program, *map(str, arguments), "--json"]
        done = subprocess.run(command, cwd=self._folder, capture_output=True, text=True, check=False)
        if done.returncode not in codes:
            sys.exit(f"error: {' '.join(command)} ended with exit code {done.returncode}:\n{done.stderr[-2000:]}")
        return json.loads(done.stdout)

    def search(self, path, sizes, project, *more):
        """The report of a search."""
        sets = [word for name, value in sizes.items() for word in ("--set", f"{name}={value}")]
        return self.ask("optimize", path, "--target", "cpu", "--project", project, "--no-self-test", *sets, *more,
                        codes=(0, NOTHING_FOUND))


def headline_of(report):
    """The best candidate and its speedup."""
    return report["best"], Speedup(report["speedup"], report["speedup_low"], report["speedup_high"])


def eager_speedup_of(report):
    """Of eager against the fastest baseline, as the run measured it."""
    for baseline in report["baselines"]:
        if baseline["mode"] == report["baseline"]:
            if baseline["mode"] == "eager":
                return Speedup(1.0, 1.0, 1.0)
            ratio = baseline["eager_speedup"]
            return Speedup(ratio["value"], ratio["low"], ratio["high"])
    return Speedup(0.0, 0.0, 0.0)


def measured_again(swage, project, candidate, path, sizes, options):
    """The speedup of a candidate on the machine as it is now; None where it is not correct any more."""
    verified = swage.ask("verify", candidate, "--project", project, "--no-checks", codes=(0, 8))
    if not verified["correct"]:
        return None
    timing = verified["evaluation"]["timing"]
    fresh = swage.search(path, sizes, f"{project}-quiet", "--max-evaluations", 1, "--remeasure",
                         *(["--no-compile-baseline"] if options.eager_only else []))
    over_eager = Speedup(timing["speedup"], timing["speedup_low"], timing["speedup_high"])
    return over_eager.times(eager_speedup_of(fresh))


def judge(announced, later, slack):
    """A word for the table, and whether the headline was wrong."""
    if not announced.value:
        return "nothing announced", False
    if later is None:
        return "NOT CORRECT", True
    if announced.meets(later, slack):
        return "uncertain" if announced.is_uncertain else "borne out", False
    return ("uncertain, and outside", False) if announced.is_uncertain else ("OUTSIDE", True)


def parsed():
    """The command line's options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, help="folder of the built programs")
    parser.add_argument("--searches", type=int, default=20, help="how many (20)")
    parser.add_argument("--time-budget", default="15s", help="of each search (15s)")
    parser.add_argument("--busy", type=int, default=(os.cpu_count() or 1) + 2,
                        help="busy processes (two more than processors); 0: none")
    parser.add_argument("--eager-only", action="store_true", help="do not measure torch.compile")
    parser.add_argument("--settle", type=float, default=5.0, help="seconds between the two halves (5)")
    parser.add_argument("--slack", type=float, default=0.02,
                        help="by which share each end of an interval may differ from day to day (0.02)")
    parser.add_argument("--project", help="folder to keep the records in; by default they are removed")
    return parser.parse_args()


def main():
    options = parsed()
    options.bin = os.path.abspath(options.bin)
    root = pathlib.Path(__file__).resolve().parent.parent
    wrong = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(options.project or scratch).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        swage = Swage(options, folder)
        done = []
        with Load(options.busy):
            for path, sizes, number in searches(root, options.searches):
                project = folder / f"search-{number}"
                more = ["--time-budget", options.time_budget, "--seed", number + 1]
                report = swage.search(path, sizes, project, *more,
                                      *(["--no-compile-baseline"] if options.eager_only else []))
                best, announced = headline_of(report)
                print(f"busy   {path.stem:<18} {str(sizes):<34} {announced}", file=sys.stderr, flush=True)
                done.append((path, sizes, project, best, announced))
        time.sleep(options.settle)
        print(f"{'task':<18} {'constants':<34} {'busy':<30} {'quiet':<30} verdict")
        uncertain = 0
        for path, sizes, project, best, announced in done:
            later = measured_again(swage, project, best, path, sizes, options) if best else None
            word, is_wrong = judge(announced, later, options.slack)
            wrong += is_wrong
            uncertain += announced.is_uncertain
            print(f"{path.stem:<18} {str(sizes):<34} {str(announced):<30} {str(later or '-'):<30} {word}", flush=True)
    print(f"\n{len(done)} searches beside {options.busy} busy processes: {wrong} wrong headlines, "
          f"{uncertain} marked as uncertain")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
