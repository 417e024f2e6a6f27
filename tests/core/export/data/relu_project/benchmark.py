# SPDX-License-Identifier: MIT-0
# Written by Swage; this file belongs to whoever exported it. Change, copy and sell it as you like.
"""Times ModelNew, the module that it replaces, and torch.compile of that module: `python benchmark.py`.

They run in turns on the same inputs, so that a change of the clock meets all of them. Times are of calls from Python,
one after another: of short kernels they are the time that a call takes.
"""
import statistics
import time
import warnings

import torch
from test_modelnew import load, make_inputs, make_modules

SAMPLES = 50  # of each, if they fit into
SECONDS = 20.0
SAMPLE_MS = 5.0  # a sample has as many calls as take this long


def milliseconds(way, inputs, device, calls):
    """The time of one of `calls` calls in a row, by the device's events, or by the clock on a CPU."""
    if device == "cuda":
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        for _ in range(calls):
            way(*inputs)
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) / calls
    start = time.perf_counter()
    for _ in range(calls):
        way(*inputs)
    return (time.perf_counter() - start) * 1e3 / calls


def measure(ways, inputs, device):
    """The samples of each way, in turns."""
    calls, samples = {}, {name: [] for name in ways}
    for name, way in ways.items():
        milliseconds(way, inputs, device, 3)  # compiles, and fills caches
        calls[name] = max(1, round(SAMPLE_MS / milliseconds(way, inputs, device, 3)))
    end = time.monotonic() + SECONDS
    for index in range(SAMPLES):
        if index >= 3 and time.monotonic() > end:
            break
        for name, way in ways.items():
            samples[name].append(milliseconds(way, inputs, device, calls[name]))
    return samples


def main():
    """Prints the medians and how ModelNew compares with the faster of the other two."""
    original, exported = load("original"), load("modelnew")
    device = exported._SWAGE_DEVICE
    old, new = make_modules(original, exported, device)
    torch.manual_seed(0)
    inputs = make_inputs(original, exported, device)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*original operators run instead.*")
        samples = measure({"ModelNew": new, "eager": old, "torch.compile": torch.compile(old)}, inputs, device)
    medians = {name: statistics.median(times) for name, times in samples.items()}
    for name, median in medians.items():
        print(f"{name:<14}{median * 1e3:>10.2f} us  (median of {len(samples[name])})")
    best = min(("eager", "torch.compile"), key=medians.get)
    print(f"ModelNew is {medians[best] / medians['ModelNew']:.2f}x against {best}. "
          "These are plain timings, not the verified ones of README.md.")


if __name__ == "__main__":
    main()
