#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares Swage's profiler with Nsight Compute on the same kernels.

    compare_with_ncu.py PROBE [--ncu ncu] [--limit 0.03] [--out FOLDER]
    compare_with_ncu.py --from FOLDER [--limit 0.03]

PROBE is swage_profile_probe. FOLDER has what both said when they ran: the second form runs nothing. Ends with 0 when
DRAM bytes, registers, occupancy and executed instructions agree within the limit for every kernel, with 1 when they do
not, with 77 when one of the two could not measure.
"""
import argparse
import csv
import json
import pathlib
import subprocess
import sys

TOTAL = "dram__bytes_read.sum + dram__bytes_write.sum"
DIRECTIONS = ["dram__bytes_read.sum", "dram__bytes_write.sum"]
REQUIRED = {
    TOTAL,
    *DIRECTIONS,
    "launch__registers_per_thread",
    "sm__maximum_warps_per_active_cycle_pct",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "sm__inst_executed.sum",
}
# Theoretical occupancy, and what limits it: computed by both sides.
COMPUTED = ["launch__occupancy_limit_blocks", "launch__occupancy_limit_registers",
            "launch__occupancy_limit_shared_mem", "launch__occupancy_limit_warps",
            "sm__maximum_warps_per_active_cycle_pct"]
# A kernel that keeps its data in the caches moves a few kilobytes; there a share says nothing.
FEW_BYTES = 1 << 20
# A direction with less than this part of a kernel's bytes is not decided alone, only in their sum. A kernel that reads
# and writes next to nothing also pushes lines out of the L2 cache that others had written: probe_sum writes 64 KiB, and
# both profilers count megabytes.
SMALL_PART = 0.1


class Measured:
    """What a profiler said, by running it or from the files of a run."""

    def __init__(self, out, saved):
        self.out, self.saved = out, saved

    def run(self, command, name):
        files = [self.out / f"{name}.out", self.out / f"{name}.err"]
        if self.saved:
            return tuple(file.read_text() if file.exists() else "" for file in files)
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        for file, text in zip(files, (done.stdout, done.stderr)):
            file.write_text(text)
        if done.returncode != 0:
            print(f"{' '.join(command)} ended with {done.returncode}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}")
            return "", done.stderr
        return done.stdout, done.stderr


def with_total(metrics):
    parts = [metrics.get(name) for name in DIRECTIONS]
    return metrics if None in parts else {**metrics, TOTAL: sum(parts)}


def ours(measured, probe):
    text, said = measured.run([probe, "profile"], "profile")
    if not measured.saved:
        print(said)
        if not text:  # does the one stand in the way of the other?
            print(measured.run([probe, "samples"], "samples")[1])
            text, said = measured.run([probe, "counters"], "counters")
            print(said)
    if not text:
        return None
    kernels = {}
    for kernel in json.loads(text)["kernels"]:
        metrics = dict(kernel["metrics"])
        metrics["sm__maximum_warps_per_active_cycle_pct"] = 100.0 * kernel["theoretical_occupancy"]
        metrics.setdefault("launch__registers_per_thread", kernel["registers"])
        kernels[kernel["entry"]] = with_total(metrics)
    return kernels


def number(text):
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None


def theirs(measured, ncu, probe, metrics):
    text, _ = measured.run([ncu, "--csv", "--page", "raw", "--print-units", "base", "--cache-control", "all",
                            "--clock-control", "none", "--kernel-name", "regex:^probe_", "--metrics", ",".join(metrics),
                            probe, "launch"], "ncu")
    rows = list(csv.DictReader(line for line in text.splitlines() if line.startswith('"')))
    kernels = {}
    for row in rows[1:]:  # the first one has the units
        name = row["Kernel Name"].split("(")[0]
        kernels[name] = with_total({key: number(value) for key, value in row.items() if key in metrics})
    return kernels


def weight(metric, mine, other):
    """Empty: only for information. "few", "small": too little to decide anything."""
    if metric not in REQUIRED:
        return ""
    if metric not in DIRECTIONS and metric != TOTAL:
        return "ok"
    if max(mine[metric], other[metric]) < FEW_BYTES:
        return "few"
    small = metric != TOTAL and max(mine[metric], other[metric]) < SMALL_PART * max(mine[TOTAL], other[TOTAL])
    return "small" if small else "ok"


def compare(name, mine, other, limit):
    good = True
    for metric in sorted(set(mine) | set(other)):
        a, b = mine.get(metric), other.get(metric)
        if a is None or b is None:
            print(f"  {'':8} {metric:75} {a} {b}")
            continue
        share = abs(a - b) / abs(b) if b else (0.0 if a == b else float("inf"))
        word = weight(metric, mine, other)
        if word == "ok" and share > limit:
            word, good = "WRONG", False
        print(f"  {word:8} {metric:75} {a:16.6g} {b:16.6g} {100 * share:7.2f} %")
    missing = [metric for metric in REQUIRED if mine.get(metric) is None or other.get(metric) is None]
    if missing:
        print(f"  WRONG    {name} lacks {', '.join(missing)}")
    return good and not missing


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("probe", nargs="?")
    parser.add_argument("--ncu", default="ncu")
    parser.add_argument("--limit", type=float, default=0.03)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("."))
    parser.add_argument("--from", dest="saved", type=pathlib.Path)
    arguments = parser.parse_args()
    if (arguments.probe is None) == (arguments.saved is None):
        parser.error("either PROBE or --from is needed")
    if not arguments.saved:
        arguments.out.mkdir(parents=True, exist_ok=True)
    measured = Measured(arguments.saved or arguments.out, arguments.saved is not None)
    mine = ours(measured, arguments.probe)
    metrics = (set().union(*mine.values()) if mine else REQUIRED) | set(COMPUTED)
    other = theirs(measured, arguments.ncu, arguments.probe, sorted(metrics - {TOTAL}))
    if not mine or not other:
        return 77
    good = True
    for name, measured in mine.items():
        print(f"{name}: Swage, Nsight Compute, difference")
        if name not in other:
            print("  WRONG    Nsight Compute did not see it")
            good = False
            continue
        good = compare(name, measured, other[name], arguments.limit) and good
    print("all within the limit" if good else "NOT within the limit")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
