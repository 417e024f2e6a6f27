#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the programs of swage_conv_programs on a GPU: error against float64, and times beside PyTorch's.

    swage_conv_programs patterns > programs.jsonl
    measure_convolutions.py programs.jsonl [--seconds 140] [--output FILE]

Needs PyTorch with CUDA and its NVRTC. Of each convolution with its ReLU: PyTorch as it is, without TF32, with cuDNN's
search, and with channels last, in microseconds with a cold cache; then each program, and how much is lost by going by the estimates. Errors are norms relative to float64 of the
first and the last image. Ends with 1 where something is wrong.
"""

import argparse
import concurrent.futures
import json
import math
import multiprocessing
import statistics
import sys
import time

import torch
import torch.nn.functional as functional

from compare_programs import TYPES, Program, compile_source

LIMITS = {0: 2e-3, 1: 1e-6, 3: 1e-3}  # of relative errors, by mode


def make_inputs(plan):
    """As KernelBench and PyTorch's layers make them: uniform images, and weights below one over the root of their count."""
    torch.manual_seed(7)
    inputs = {}
    for position, number in enumerate(plan["inputs"]):
        one = plan["buffers"][number]
        tensor = torch.rand(one["shape"], device="cuda")
        if position > 0:
            shape = plan["buffers"][plan["inputs"][1]]["shape"]
            tensor = (tensor * 2 - 1) / math.prod(shape[1:]) ** 0.5
        inputs[number] = tensor.to(TYPES[one["dtype"]])
    return inputs


def share_outside(result, eager):
    """Of the elements, as KernelBench compares with PyTorch."""
    return (~torch.isclose(result, eager, rtol=1e-4, atol=1e-4)).sum().item() / eager.numel()


def convolve(tensors, settings):
    x, weight, offset = (*tensors, None)[:3]
    settings = dict(settings)
    is_bare = settings.pop("bare", False)
    kind = "conv_transpose" if settings.pop("transposed") else "conv"
    sums = getattr(functional, f"{kind}{x.dim() - 2}d")(x, weight, offset, **settings)
    return sums if is_bare else torch.relu(sums)


def median_time(run, flush, rounds, deadline):
    run()
    torch.cuda.synchronize()
    taken = []
    for _ in range(rounds):
        flush.zero_()
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        run()
        end.record()
        end.synchronize()
        taken.append(start.elapsed_time(end) * 1e3)
        if time.monotonic() > deadline:
            break
    return statistics.median(taken)


ENDS = (slice(0, 1), slice(-1, None))


def exact_ends(tensors, settings):
    """The first and the last image in float64."""
    return [convolve([tensors[0][part].double()] + [tensor.double() for tensor in tensors[1:]], settings) for part in ENDS]


def relative_error(result, exact):
    wrong = sum((result[part].double() - one).square().sum().item() for part, one in zip(ENDS, exact))
    return (wrong / sum(one.square().sum().item() for one in exact)) ** 0.5


def pytorch_times(tensors, settings, flush, rounds, deadline):
    """By name: microseconds. Of channels last without and with the copies that a caller with NCHW needs."""
    times = {}
    last = {4: torch.channels_last, 5: torch.channels_last_3d}.get(tensors[0].dim())
    times["eager"] = median_time(lambda: convolve(tensors, settings), flush, rounds, deadline)
    torch.backends.cudnn.allow_tf32 = False
    times["without_tf32"] = median_time(lambda: convolve(tensors, settings), flush, rounds, deadline)
    torch.backends.cudnn.allow_tf32 = True
    torch.backends.cudnn.benchmark = True
    try:
        times["searched"] = median_time(lambda: convolve(tensors, settings), flush, rounds, deadline)
        if last is not None:
            turned = [tensor.contiguous(memory_format=last) for tensor in tensors[:2]] + tensors[2:]
            times["last"] = median_time(lambda: convolve(turned, settings), flush, rounds, deadline)

            def whole():
                mine = [tensor.contiguous(memory_format=last) for tensor in tensors[:2]] + tensors[2:]
                return convolve(mine, settings).contiguous()

            times["last_copied"] = median_time(whole, flush, rounds, deadline)
    finally:
        torch.backends.cudnn.benchmark = False
    return times


def memory_floor(plan):
    """Microseconds for the bytes of inputs and results at 3 TB/s."""
    return sum(math.prod(plan["buffers"][number]["shape"]) * TYPES[plan["buffers"][number]["dtype"]].itemsize
               for number in plan["inputs"] + plan["outputs"]) / 3e6


def read(path):
    cases = {}
    for line in open(path):
        one = json.loads(line)
        cases.setdefault(one["case"], []).append(one)
    return cases


def run_case(name, programs, cubins, options, flush, bad, rows):
    deadline = time.monotonic() + options.case_seconds
    plan = programs[0]["plan"]
    inputs = make_inputs(plan)
    tensors = [inputs[number] for number in plan["inputs"]]
    settings = programs[0]["convolution"]
    if settings is not None:
        eager = convolve(tensors, settings)
        times = pytorch_times(tensors, settings, flush, options.rounds, deadline)
        exact = exact_ends(tensors, settings)
        times["eager_error"] = relative_error(eager, exact)
    else:
        eager = tensors[0]
        times = {"eager": median_time(lambda: tensors[0].clone(memory_format=torch.channels_last), flush,
                                      options.rounds, deadline)}
    print(name, {key: float(f"{value:.4g}") for key, value in times.items()}, flush=True)
    rows.append({"case": name, "pytorch": times})
    taken_by = []
    for entry in programs:
        if time.monotonic() > deadline:
            break
        cubin = cubins[entry["source"]].result()
        parameters = json.loads(entry["genome"])["regions"][0]["parameters"]
        if isinstance(cubin, str):
            bad.append(f"{name} {parameters} does not compile: {cubin[:300]}")
            continue
        program = Program(entry, cubin, inputs)
        program.run()
        torch.cuda.synchronize()
        result = program.results()[0]
        if settings is not None:
            error = relative_error(result, exact)
            is_wrong = not error < LIMITS[parameters.get("mode", 1)]
        else:
            error = 0.0
            is_wrong = not torch.equal(result, tensors[0])
        outside = share_outside(result, eager)
        taken = median_time(program.run, flush, options.rounds, deadline)
        guess = entry.get("estimate", 0.0) * 1e6
        print(f"  {taken:10.1f} us ({guess:8.1f} estimated) {times['eager'] / taken:6.2f} x eager  error {error:.2e}  "
              f"outside {outside:.1e}  {entry['pattern']} {list(parameters.values())}", flush=True)
        taken_by.append((taken, entry["pattern"], list(parameters.values()), entry.get("first", False)))
        rows.append({"case": name, "us": taken, "estimate_us": guess, "error": error, "outside": outside, "pattern": entry["pattern"],
                     "parameters": parameters})
        if is_wrong:
            bad.append(f"{name} {parameters}: error {error:.3g}")
        program.close()
    if taken_by:
        best = min(taken_by)
        first = [one for one in taken_by if one[3]]
        lost = f"; what is estimated to be the fastest takes {first[0][0] / best[0]:.2f} times as long" if first else ""
        floor = memory_floor(plan)
        print(f"  best {best[0]:.1f} us by {best[1]} {best[2]}, {times['eager'] / best[0]:.2f} x eager, {floor / best[0]:.2f} "
              f"of copying at 3 TB/s{lost}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs")
    parser.add_argument("--seconds", type=float, default=140.0)
    parser.add_argument("--case-seconds", type=float, default=7.0)
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
    sources = list(dict.fromkeys(entry["source"] for programs in cases.values() for entry in programs))
    pool = concurrent.futures.ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn"))
    cubins = {source: pool.submit(compile_source, source, architecture) for source in sources}
    print(f"{torch.cuda.get_device_name()}, {len(sources)} programs", flush=True)
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
    pool.shutdown(wait=False, cancel_futures=True)
    if options.output:
        json.dump({"device": torch.cuda.get_device_name(), "rows": rows, "bad": bad}, open(options.output, "w"))
    for line in bad:
        print("WRONG", line)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
