#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares Swage's profiler with Nsight Compute on the same kernels.

    compare_with_ncu.py PROBE [--ncu ncu] [--limit 0.03] [--out FOLDER]

PROBE is swage_profile_probe. Ends with 0 when DRAM bytes, registers, occupancy and executed instructions agree within
the limit for every kernel, with 1 when they do not, with 77 when one of the two could not measure.
"""
import argparse
import csv
import json
import pathlib
import subprocess
import sys

REQUIRED = {
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "launch__registers_per_thread",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "sm__inst_executed.sum",
}
# Theoretical occupancy, and what limits it: computed by both sides.
COMPUTED = ["launch__occupancy_limit_blocks", "launch__occupancy_limit_registers",
            "launch__occupancy_limit_shared_mem", "launch__occupancy_limit_warps",
            "sm__maximum_warps_per_active_cycle_pct"]
# A kernel that keeps its data in the caches moves a few kilobytes; there a share says nothing.
FEW_BYTES = 1 << 20


def run(command, out, name):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    (out / f"{name}.out").write_text(done.stdout)
    (out / f"{name}.err").write_text(done.stderr)
    if done.returncode != 0:
        print(f"{' '.join(command)} ended with {done.returncode}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}")
    return done


def ours(probe, out):
    done = run([probe, "profile"], out, "profile")
    print(done.stderr)
    if done.returncode != 0:  # does the one stand in the way of the other?
        print(run([probe, "samples"], out, "samples").stderr)
        done = run([probe, "counters"], out, "counters")
        print(done.stderr)
    if done.returncode != 0:
        return None
    kernels = {}
    for kernel in json.loads(done.stdout)["kernels"]:
        metrics = dict(kernel["metrics"])
        metrics["launch__registers_per_thread"] = kernel["registers"]
        metrics["sm__maximum_warps_per_active_cycle_pct"] = 100.0 * kernel["theoretical_occupancy"]
        kernels[kernel["entry"]] = metrics
    return kernels


def number(text):
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None


def theirs(ncu, probe, metrics, out):
    done = run([ncu, "--csv", "--page", "raw", "--print-units", "base", "--cache-control", "all", "--clock-control",
                "none", "--kernel-name", "regex:^probe_", "--metrics", ",".join(metrics), probe, "launch"], out, "ncu")
    lines = [line for line in done.stdout.splitlines() if line.startswith('"')]
    if done.returncode != 0 or not lines:
        return None
    rows = list(csv.DictReader(lines))
    kernels = {}
    for row in rows[1:]:  # the first one has the units
        name = row["Kernel Name"].split("(")[0]
        kernels[name] = {key: number(value) for key, value in row.items() if key in metrics}
    return kernels


def compare(name, mine, other, limit):
    good = True
    for metric in sorted(set(mine) | set(other)):
        a, b = mine.get(metric), other.get(metric)
        if a is None or b is None:
            print(f"  {'':8} {metric:75} {a} {b}")
            continue
        share = abs(a - b) / abs(b) if b else (0.0 if a == b else float("inf"))
        tiny = metric.startswith("dram__bytes_") and max(a, b) < FEW_BYTES
        required = metric in REQUIRED and not tiny
        wrong = required and share > limit
        good = good and not wrong
        word = "WRONG" if wrong else "ok" if required else "few" if tiny else ""
        print(f"  {word:8} {metric:75} {a:16.6g} {b:16.6g} {100 * share:7.2f} %")
    missing = [metric for metric in REQUIRED if mine.get(metric) is None or other.get(metric) is None]
    if missing:
        print(f"  WRONG    {name} lacks {', '.join(missing)}")
    return good and not missing


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("probe")
    parser.add_argument("--ncu", default="ncu")
    parser.add_argument("--limit", type=float, default=0.03)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("."))
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    mine = ours(arguments.probe, arguments.out)
    metrics = sorted(set().union(*(set(m) for m in mine.values())) if mine else REQUIRED)
    other = theirs(arguments.ncu, arguments.probe, sorted(set(metrics) | set(COMPUTED)), arguments.out)
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
