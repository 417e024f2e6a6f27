# SPDX-License-Identifier: Apache-2.0
"""Runs listed programs case by case on a GPU: what measure_attention.py and measure_recurrence.py have in common."""

import argparse
import concurrent.futures
import json
import time

import torch

from compare_programs import compile_source


def parser():
    """Options that every such program has. Times are in seconds."""
    options = argparse.ArgumentParser()
    options.add_argument("programs")
    options.add_argument("--seconds", type=float, default=90.0)
    options.add_argument("--case-seconds", type=float, default=8.0)
    options.add_argument("--rounds", type=int, default=7)
    options.add_argument("--cases", default="")
    return options


def run_cases(options, run_case):
    """Compiles all programs, then calls run_case(name, entries, cubins, options, flush, bad) for each case.

    A cubin is a string where compiling failed. `flush` is what to overwrite for a cold cache; run_case adds lines to
    `bad` about what is wrong. Returns the exit code: 1 where something is.
    """
    begin = time.monotonic()
    entries = [json.loads(line) for line in open(options.programs)]
    if options.cases:
        entries = [entry for entry in entries if entry["case"] in options.cases.split(",")]
    with concurrent.futures.ProcessPoolExecutor() as pool:
        torch.zeros(1, device="cuda")
        major, minor = torch.cuda.get_device_capability()
        architecture = f"sm_{major}{minor}{'a' if major >= 9 else ''}"
        cubins = list(pool.map(compile_source, [entry["source"] for entry in entries], [architecture] * len(entries)))
    print(f"compiled {len(entries)} programs in {time.monotonic() - begin:.1f} s on {torch.cuda.get_device_name()}",
          flush=True)
    flush = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
    bad = []
    for name in dict.fromkeys(entry["case"] for entry in entries):
        if time.monotonic() - begin > options.seconds:
            print(f"{name}: no time left", flush=True)
            continue
        mine = [number for number, entry in enumerate(entries) if entry["case"] == name]
        try:
            run_case(name, [entries[number] for number in mine], [cubins[number] for number in mine], options, flush, bad)
        except RuntimeError as error:
            bad.append(f"{name}: {error}")
            if "illegal" in str(error) or "failure" in str(error):
                break  # the context is lost
        torch.cuda.empty_cache()
    for line in bad:
        print("WRONG", line)
    return 1 if bad else 0
