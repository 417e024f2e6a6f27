#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the programs of swage_stream_programs on a GPU: error against float64, and times beside PyTorch's and a copy's.

    swage_stream_programs patterns > programs.jsonl
    measure_streams.py programs.jsonl [--seconds 90] [--cases NAME,NAME] [--output FILE]

Needs PyTorch with CUDA and its NVRTC. A copy is that of as many bytes as the operator reads and writes, each once; times
are medians with a cold cache. Errors are the greatest, relative to the greatest result, on the first and last slices.
Ends with 1 where something is wrong.
"""

import argparse
import concurrent.futures
import json
import sys
import time

import torch

from compare_programs import TYPES, Program, compile_source
from measure_convolutions import median_time, read

SLICES = 8


def make_inputs(plan):
    torch.manual_seed(7)
    inputs = {}
    for number in plan["inputs"]:
        one = plan["buffers"][number]
        dtype = TYPES[one["dtype"]]
        if dtype == torch.bool:
            inputs[number] = torch.rand(one["shape"], device="cuda", dtype=torch.float16) < 0.5
        elif dtype.is_floating_point:
            inputs[number] = torch.rand(one["shape"], device="cuda", dtype=dtype)
        else:
            inputs[number] = torch.randint(0, 1000, one["shape"], device="cuda", dtype=dtype)
    return inputs


def reference(expression, tensors):
    return eval(expression, {"torch": torch}, dict(zip("abc", tensors)))


def relative_error(result, exact):
    difference = (result.double() - exact).abs().max().item()
    return difference / max(exact.abs().max().item(), 1e-30)


def widened(tensors):
    return [t.double() if t.dtype.is_floating_point else t for t in tensors]


def error_of(result, entry, tensors):
    along = entry["independent"]
    if along == -2:
        # Too much for float64; PyTorch's own.
        eager = reference(entry["reference"], tensors)
        return (eager.sub_(result).abs_().max() / result.abs().max()).item()
    if along == -1:
        # In pieces, because in float64 they would not fit beside each other.
        parts = [reference(entry["reference"], widened(part)).item() * part[0].shape[0]
                 for part in zip(*(t.split(2048) for t in tensors))]
        return relative_error(result, torch.tensor(sum(parts) / tensors[0].shape[0], device="cuda"))
    worst = 0.0
    for first in (0, tensors[0].shape[along] - SLICES):
        part = [t.narrow(along, first, SLICES) for t in tensors]
        exact = reference(entry["reference"], widened(part))
        worst = max(worst, relative_error(result.narrow(along, first, SLICES), exact))
    return worst


def copy_time(total, flush, rounds, deadline):
    source = torch.empty(total // 2 // 16 * 4, dtype=torch.float32, device="cuda").zero_()
    target = torch.empty_like(source)
    return median_time(lambda: target.copy_(source), flush, rounds, deadline)


def run_case(name, programs, cubins, options, flush, bad, rows):
    deadline = time.monotonic() + options.case_seconds
    plan = programs[0]["plan"]
    inputs = make_inputs(plan)
    tensors = [inputs[number] for number in plan["inputs"]]
    eager = reference(programs[0]["reference"], tensors)
    total = sum(t.numel() * t.element_size() for t in tensors) + eager.numel() * eager.element_size()
    eager_error = error_of(eager, programs[0], tensors)
    del eager
    eager_us = median_time(lambda: reference(programs[0]["reference"], tensors), flush, options.rounds, deadline)
    torch.cuda.empty_cache()
    copy_us = copy_time(total, flush, options.rounds, deadline)
    torch.cuda.empty_cache()
    print(f"{name}: {total / 1e9:.2f} GB, eager {eager_us:.0f} us, error {eager_error:.0e}, copy {copy_us:.0f} us "
          f"({total / copy_us / 1e6:.2f} TB/s)", flush=True)
    rows.append({"case": name, "eager_us": eager_us, "copy_us": copy_us, "eager_error": eager_error})
    for entry in programs:
        if time.monotonic() > deadline:
            break
        cubin = cubins[entry["source"]]
        parameters = json.loads(entry["genome"])["regions"][0]["parameters"]
        if isinstance(cubin, str):
            bad.append(f"{name} {parameters} does not compile: {cubin[:300]}")
            continue
        program = Program(entry, cubin, inputs)
        program.run()
        torch.cuda.synchronize()
        error = error_of(program.results()[0], entry, tensors)
        taken = median_time(program.run, flush, options.rounds, deadline)
        settings = " ".join(f"{name}={value}" for name, value in parameters.items())
        print(f" {taken:.0f} us, {copy_us / taken:.2f} of copy, {eager_us / taken:.2f} x, {error:.0e} {entry['pattern']} "
              f"{settings}", flush=True)
        rows.append({"case": name, "us": taken, "error": error, "pattern": entry["pattern"], "parameters": parameters})
        if not error <= max(2 * eager_error, 1e-6 if tensors[0].dtype == torch.float32 else 1e-3):
            bad.append(f"{name} {entry['pattern']} {parameters}: error {error:.3g}")
        program.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs")
    parser.add_argument("--seconds", type=float, default=90.0)
    parser.add_argument("--case-seconds", type=float, default=6.0)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--cases", default="")
    parser.add_argument("--output", default="")
    options = parser.parse_args()
    end = time.monotonic() + options.seconds
    cases = read(options.programs)
    if options.cases:
        cases = {name: cases[name] for name in options.cases.split(",")}
    torch.zeros(1, device="cuda")
    major, minor = torch.cuda.get_device_capability()
    architecture = f"sm_{major}{minor}{'a' if major >= 9 else ''}"
    sources = list({entry["source"] for programs in cases.values() for entry in programs})
    with concurrent.futures.ProcessPoolExecutor() as pool:
        cubins = dict(zip(sources, pool.map(compile_source, sources, [architecture] * len(sources), chunksize=2)))
    print(f"{torch.cuda.get_device_name()}, {len(sources)} programs compiled", flush=True)
    flush = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
    bad, rows = [], []
    for name, programs in cases.items():
        if time.monotonic() > end:
            bad.append(f"no time was left for {name}")
            continue
        try:
            run_case(name, programs, cubins, options, flush, bad, rows)
        except RuntimeError as error:
            bad.append(f"{name}: {error}")
            if "illegal" in str(error) or "launch failure" in str(error) or "error 7" in str(error):
                break  # the context is lost
        torch.cuda.empty_cache()
    if options.output:
        json.dump({"device": torch.cuda.get_device_name(), "rows": rows, "bad": bad}, open(options.output, "w"))
    for line in bad:
        print("WRONG", line)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
