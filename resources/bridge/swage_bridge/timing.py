# SPDX-License-Identifier: Apache-2.0
"""Timing with cold caches, by the method of the C++ worker.

Before every call a buffer of twice the last-level cache is written (on a GPU: twice its L2 and at
least 256 MB), so that no call finds its inputs cached by the one before. GPU calls are timed by
events, CPU calls by the monotonic clock; the allocation of outputs is inside. What is compared is
measured in turns, in another random order each time, so that drift of clocks and neighbours hits all
alike. Short GPU calls take turns on streams as well, because what a launch costs depends on the stream.
Intervals of times are those of the median from order statistics, those of ratios come from a bootstrap over
rounds.
"""

from __future__ import annotations

import dataclasses
import glob
import math
import random
import statistics
import time

import torch

from . import conditions

MIN_SAMPLES = 5
MAX_SAMPLES = 50
_WARM_UPS = 3
_GPU_FLUSH_BYTES = 256 * 1024 * 1024
# Writes of the whole buffer before a call. One is enough for the cache, but takes only about 70 us on the
# fastest GPUs; measured there, Python needed up to 100 us to submit a compiled module whose turn it was not
# the call before, and the device waited between the events.
_GPU_FLUSHES = 3
# On an H200 a launch takes 1.73 or 1.87 us, the same for some 40 streams made one after the other, and drawn
# anew by every process. PyTorch makes 32 for each of four priorities; these are far apart.
_PRIORITIES = 4
_STREAMS_PER_PRIORITY = 32
_STREAMS = 8
# Longer calls need more memory for each stream, which PyTorch caches, and do not feel a launch.
_LONGEST_ON_STREAMS_NS = 0.5e6
_DEFAULT_CPU_CACHE_BYTES = 32 * 1024 * 1024
_FEWEST_FOR_INTERVAL = 6
_TAIL = 0.025  # of each side of a 95 % interval
# Rounds on a throttled device that are measured again; after that they are taken as they are.
_PATIENCE = 10
# A ratio whose interval is wider to each side is uncertain; measuring goes on for as long again.
_WIDEST_HALF = 0.2
_REPLICATES = 1000
_SPREAD = 0.1  # of the samples lie outside on each side
_SHARED_FACTOR = 8.0  # by which a ratio may be wrong on a shared device although the samples agree (kSharedFactor)


def last_level_cache():
    """Bytes of the largest CPU cache that Linux reports; 32 MiB when it reports none."""
    sizes = []
    for path in glob.glob("/sys/devices/system/cpu/cpu0/cache/index*/size"):
        try:
            with open(path, encoding="ascii") as handle:
                text = handle.read().strip()
            sizes.append(int(text[:-1]) * {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}[text[-1]])
        except (OSError, ValueError, KeyError, IndexError):
            continue
    return max(sizes, default=_DEFAULT_CPU_CACHE_BYTES)


def _far_apart(device):
    """Streams of PyTorch's pools, in the order in which calls take them."""
    step = _STREAMS_PER_PRIORITY * _PRIORITIES // _STREAMS
    pools = [
        [torch.cuda.Stream(device, priority=-priority) for _ in range(_STREAMS_PER_PRIORITY)]
        for priority in range(_PRIORITIES)
    ]
    return [pool[at] for at in range(0, _STREAMS_PER_PRIORITY, step) for pool in pools]


class Clock:
    """Times single calls on one device, each with cold caches."""

    def __init__(self, device):
        self._device = torch.device(device)
        self._cuda = self._device.type == "cuda"
        if self._cuda:
            l2 = torch.cuda.get_device_properties(self._device).L2_cache_size
            self.flush_bytes = max(2 * l2, _GPU_FLUSH_BYTES)
            self._start = torch.cuda.Event(enable_timing=True)
            self._stop = torch.cuda.Event(enable_timing=True)
            self._streams = _far_apart(self._device)
        else:
            self._streams = []
            self.flush_bytes = 2 * last_level_cache()
        self.name = "device events" if self._cuda else "host clock"
        self._buffer = torch.empty(self.flush_bytes, dtype=torch.uint8, device=self._device)
        self._fill = 0

    def _flush(self):
        # A new value each time: a write of what is there already might be elided by hardware.
        self._fill = (self._fill + 1) % 251
        self._buffer.fill_(self._fill)

    def nvml(self):
        """The management library's view of the device; None on a CPU."""
        if not self._cuda:
            return None
        return conditions.Nvml(f"GPU-{torch.cuda.get_device_properties(self._device).uuid}")

    @property
    def streams(self):
        """How many streams there are to take turns on; 0 on a CPU."""
        return len(self._streams)

    def once(self, call, turn=None):
        """Nanoseconds of one call of `call()`. Its result is freed after the clock has stopped.

        On a GPU it runs on the stream whose turn it is, without a turn on the current one.
        """
        if not self._cuda:
            self._flush()
            start = time.perf_counter_ns()
            result = call()
            elapsed = time.perf_counter_ns() - start
            del result
            return elapsed
        torch.cuda.synchronize(self._device)
        with torch.cuda.stream(None if turn is None else self._streams[turn % len(self._streams)]):
            return self._on_current_stream(call)

    def _on_current_stream(self, call):
        # The device must not wait for Python between the events: the flush is queued first and
        # keeps it busy while the host submits the call.
        for _ in range(_GPU_FLUSHES):
            self._flush()
        self._start.record()
        result = call()
        self._stop.record()
        self._stop.synchronize()
        del result
        return self._start.elapsed_time(self._stop) * 1e6


@dataclasses.dataclass
class Measured:
    """What interleave() found, by the names of the calls."""

    samples: dict  # lists of nanoseconds
    failures: dict  # exceptions
    repeated: int = 0  # rounds that were measured again, on a device held back
    throttled: bool = False  # rounds on such a device had to be kept


def interleave(clock, calls, budget_s, seed=0, watch=None, reference=None):
    """Times named calls in turns. Returns Measured.

    `calls` maps names to functions without arguments. After up to 3 warm-ups each, and one for each
    stream of the clock, at least 5 and at most 50 rounds run within about `budget_s` seconds, each in
    an order drawn anew. A call that raises ends up as an exception, and the others go on. `watch`, a
    conditions.Watch, is asked after each round: one on a throttled device is measured again. While the
    ratio of a call to the one named `reference` is uncertain, it goes on: up to twice as many rounds in
    twice the time.
    """
    result = Measured({name: [] for name in calls}, {})
    samples, failures = result.samples, result.failures
    watch = watch or conditions.Watch()
    turns = dict.fromkeys(calls)  # None: not known to be short
    draw = random.Random(seed)
    start = time.monotonic()

    def attempt(name, keep):
        try:
            elapsed = clock.once(calls[name], turns[name])
        except Exception as exc:  # a failed mode is data
            failures[name] = exc
            return
        if turns[name] is not None:
            turns[name] += 1
        elif clock.streams and elapsed <= _LONGEST_ON_STREAMS_NS:
            turns[name] = 0
        if keep:
            samples[name].append(elapsed)

    def round_of(keep):
        working = [name for name in calls if name not in failures]
        draw.shuffle(working)
        for name in working:
            attempt(name, keep)

    for warm_up in range(_WARM_UPS + clock.streams):
        # Long calls are warm after one; the warm-ups get at most a quarter of the budget.
        if warm_up and time.monotonic() - start > budget_s / 4:
            break
        round_of(False)
    for turn in range(2 * MAX_SAMPLES):
        elapsed = time.monotonic() - start
        is_over = turn >= MIN_SAMPLES and elapsed > budget_s or turn >= MAX_SAMPLES
        if is_over and (elapsed > 2 * budget_s or not _is_uncertain(result, reference)):
            break
        round_of(True)
        while watch.is_throttled():
            if result.repeated == _PATIENCE:
                result.throttled = True
                break
            result.repeated += 1
            for taken in samples.values():
                del taken[turn:]
            conditions.wait_a_moment()
            round_of(True)
    return result


def median_interval(samples):
    """The 95 % interval of the median: the k-th smallest and the k-th largest sample.

    k is the largest with P(X < k) <= 2.5 % for X ~ binomial(n, 1/2). With fewer than 6 samples it is
    the whole range.
    """
    values, count = sorted(samples), len(samples)
    rank, below = 0, 0.0
    while rank < count:
        below += math.comb(count, rank) * 0.5**count
        if below > _TAIL:
            break
        rank += 1
    rank = max(rank, 1) if count >= _FEWEST_FOR_INTERVAL else 1
    return values[rank - 1], values[count - rank]


def _quantile(values, share):
    """Of sorted values, with linear interpolation."""
    position = share * (len(values) - 1)
    below = int(position)
    above = min(below + 1, len(values) - 1)
    return values[below] + (position - below) * (values[above] - values[below])


def _draw_blocks(draw, count):
    """Indices of `count` samples, drawn as neighbours: what disturbs a measurement lasts for several."""
    length = max(1, round(count ** (1 / 3)))
    drawn = []
    while len(drawn) < count:
        first = draw.randrange(count)
        drawn += [(first + step) % count for step in range(min(length, count - len(drawn)))]
    return drawn


def ratio(samples, reference, throttled=False):
    """How many times as fast the reference is: median(samples) / median(reference), low, high; or None.

    The samples of both are of the same rounds. The interval is the 95 % one of a moving-block bootstrap
    over rounds; on a throttled or shared device, how far the samples lie apart, and a factor of 8 each way
    at least: all calls of one way may wait for other processes, and none of the other's.
    """
    count = min(len(samples), len(reference))
    if not count or not statistics.median(reference[:count]):
        return None
    samples, reference = samples[:count], reference[:count]
    value = statistics.median(samples) / statistics.median(reference)
    if throttled:
        ours, theirs = sorted(samples), sorted(reference)
        low = _quantile(ours, _SPREAD) / max(_quantile(theirs, 1 - _SPREAD), 1e-9)
        high = _quantile(ours, 1 - _SPREAD) / max(_quantile(theirs, _SPREAD), 1e-9)
        return value, min(low, value / _SHARED_FACTOR), max(high, value * _SHARED_FACTOR)
    draw = random.Random(0)
    found = []
    for _ in range(_REPLICATES):
        drawn = _draw_blocks(draw, count)
        below = statistics.median([reference[at] for at in drawn])
        found.append(statistics.median([samples[at] for at in drawn]) / max(below, 1e-9))
    found.sort()
    return value, min(value, _quantile(found, _TAIL)), max(value, _quantile(found, 1 - _TAIL))


def is_uncertain(measured):
    """Whether the interval of a ratio() is wider than 20 % to each side."""
    return measured is not None and (measured[2] - measured[1]) / 2 > _WIDEST_HALF * measured[0]


def _is_uncertain(measured, reference):
    known = measured.samples.get(reference) if reference not in measured.failures else None
    return bool(known) and any(
        is_uncertain(ratio(samples, known, measured.throttled))
        for name, samples in measured.samples.items()
        if name != reference and name not in measured.failures
    )


def summarise(samples, throttled=False):
    """Median, its interval and the minimum, in ns; nulls without samples."""
    if not samples:
        return {"median_ns": None, "low_ns": None, "high_ns": None, "min_ns": None, "samples": 0, "stop_reason": ""}
    low, high = median_interval(samples)
    reason = "sample limit" if len(samples) >= MAX_SAMPLES else "time budget"
    return {
        "median_ns": round(statistics.median(samples)),
        "low_ns": round(low),
        "high_ns": round(high),
        "min_ns": round(min(samples)),
        "samples": len(samples),
        "stop_reason": "throttled" if throttled else reason,
    }
