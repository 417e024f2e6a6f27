#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the programs of swage_attention_programs on a GPU: error against float64, and times beside PyTorch's.

    swage_attention_programs patterns [MOST [CASE,CASE]] > programs.jsonl
    measure_attention.py programs.jsonl [--seconds 90] [--cases NAME,NAME] [--kind normal]

Needs PyTorch with CUDA and its NVRTC. Of each case: PyTorch as it chooses by itself and by each of its ways, in
microseconds with a cold cache; then each program. Errors are norms relative to float64, of the first and the last head.
A line at the end of each case compares the fastest program with the fastest way of PyTorch. Ends with 1 where something is wrong.
"""

import statistics
import sys
import time

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

import cases
from compare_programs import TYPES
from run_products import Program

WAYS = {"flash": SDPBackend.FLASH_ATTENTION, "efficient": SDPBackend.EFFICIENT_ATTENTION,
        "cudnn": SDPBackend.CUDNN_ATTENTION, "math": SDPBackend.MATH}
LIMIT = 2.0  # times eager's error


def make_inputs(plan, kind):
    torch.manual_seed(7)
    inputs = {}
    for number in plan["inputs"]:
        one = plan["buffers"][number]
        tensor = torch.rand(one["shape"], device="cuda") if kind == "uniform" else torch.randn(one["shape"], device="cuda")
        inputs[number] = tensor.to(TYPES[one["dtype"]])
    return inputs


def attend(tensors, entry):
    mask = tensors[3] if len(tensors) > 3 else None
    return scaled_dot_product_attention(*tensors[:3], attn_mask=mask, is_causal=entry["causal"],
                                        enable_gqa=entry["grouped"])


def median_time(run, flush, rounds):
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
    return statistics.median(taken)


def exact_head(tensors, entry, batch, head):
    """In float64, the last 512 queries."""
    q, k, v = tensors[:3]
    group = q.shape[1] // k.shape[1]
    few = slice(max(0, q.shape[2] - 512), None)
    query = q[batch, head, few].double()
    scores = query @ k[batch, head // group].double().T / q.shape[3] ** 0.5
    if len(tensors) > 3:
        scores += tensors[3][few].double()
    if entry["causal"]:
        rows = torch.arange(q.shape[2], device="cuda")[few]
        scores.masked_fill_(torch.arange(k.shape[2], device="cuda")[None] > rows[:, None], -float("inf"))
    return scores.softmax(-1) @ v[batch, head // group].double(), few


def error_of(result, exact):
    wrong = norm = 0.0
    for (batch, head), (want, few) in exact.items():
        wrong += (result[batch, head, few].double() - want).square().sum().item()
        norm += want.square().sum().item()
    return (wrong / norm) ** 0.5


def run_case(name, entries, cubins, options, flush, bad):
    deadline = time.monotonic() + options.case_seconds
    plan = entries[0]["plan"]
    inputs = make_inputs(plan, options.kind)
    tensors = [inputs[number] for number in plan["inputs"]]
    q, k = tensors[:2]
    exact = {at: exact_head(tensors, entries[0], *at) for at in {(0, 0), (q.shape[0] - 1, q.shape[1] - 1)}}
    operations = 4.0 * q.numel() * k.shape[2] * (0.5 if entries[0]["causal"] else 1.0)
    eager = attend(tensors, entries[0])
    eager_error = error_of(eager, exact)
    times = {"eager": median_time(lambda: attend(tensors, entries[0]), flush, options.rounds)}
    for way, backend in WAYS.items():
        if way == "math" and q.numel() // q.shape[3] * k.shape[2] > 1e9:
            continue
        try:
            with sdpa_kernel([backend]):
                times[way] = median_time(lambda: attend(tensors, entries[0]), flush, options.rounds)
        except RuntimeError:
            torch.cuda.synchronize()
    listed = " ".join(f"{way} {taken:.0f}" for way, taken in times.items())
    print(f"{name}: {listed} us, eager {operations / times['eager'] / 1e6:.0f} TFLOP/s, error {eager_error:.2e}",
          flush=True)
    fastest = None
    for number, (entry, cubin) in enumerate(zip(entries, cubins)):
        if time.monotonic() > deadline and number > 2:
            break
        label = entry["label"]
        if isinstance(cubin, str):
            bad.append(f"{name} {label} does not compile: {cubin[:300]}")
            continue
        program = Program(entry, cubin, inputs)
        program.run()
        torch.cuda.synchronize()
        error = error_of(program.results()[0], exact)
        largest = (program.results()[0] - eager).abs().max().item()
        taken = median_time(program.run, flush, options.rounds)
        each = [median_time(launch, flush, 3) for launch in program.launches]
        print(f"  {taken:9.1f} us (model {entry['estimate'] * 1e6:.0f})  x{times['eager'] / taken:.2f}  "
              f"{operations / taken / 1e6:.0f} TFLOP/s  error {error:.2e}  from eager {largest:.1e}  launches "
              f"{' '.join(f'{one:.0f}' for one in each)}  {label}", flush=True)
        if not error < max(LIMIT * eager_error, 1e-7) or not largest < 0.1:
            bad.append(f"{name} {label}: error {error:.3g}, from eager {largest:.3g}")
        elif fastest is None or taken < fastest[0]:
            fastest = taken, entry["label"]
        program.close()
        del program
        torch.cuda.empty_cache()
    if fastest:
        way = min((way for way in times if way != "math"), key=times.get)
        print(f"  = {name}: {fastest[0]:.1f} us is x{times[way] / fastest[0]:.2f} of {way}, the fastest of PyTorch: "
              f"{fastest[1]}", flush=True)


def main():
    parser = cases.parser()
    parser.add_argument("--kind", default="normal", choices=("normal", "uniform"))
    return cases.run_cases(parser.parse_args(), run_case)


if __name__ == "__main__":
    sys.exit(main())
