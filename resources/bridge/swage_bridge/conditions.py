# SPDX-License-Identifier: Apache-2.0
"""What a device was doing while something on it was timed: clocks, heat, power and what held it back.

Asks NVIDIA's management library (NVML) by ctypes: PyTorch's own functions for this need a package that a
user's environment may lack. What cannot be asked is 0, as in the C++ worker (core/device/nvml.cpp), whose
words for the reasons these are. Nothing here raises.
"""

from __future__ import annotations

import ctypes
import os
import statistics
import time

LIBRARY = "libnvidia-ml.so.1"
_SM_CLOCK, _MEMORY_CLOCK = 1, 2
_GPU_TEMPERATURE = 0
# nvmlClocksEventReasons, as the library's documentation numbers them: the word, and whether it spoils a time.
_REASONS = {
    0x2: ("application clocks", False),
    0x4: ("power cap", False),
    0x8: ("hardware slowdown", True),
    0x10: ("sync boost", False),
    0x20: ("thermal", True),
    0x40: ("hardware thermal", True),
    0x80: ("power brake", True),
    0x100: ("display clocks", False),
}


class Nvml:
    """One GPU, by its UUID ("GPU-..."), in the management library; knows nothing where either is not there."""

    def __init__(self, uuid, library=LIBRARY):
        self._library = self._device = None
        try:
            opened = ctypes.CDLL(library)
            if opened.nvmlInit_v2() != 0:
                return
            device = ctypes.c_void_p()
            if opened.nvmlDeviceGetHandleByUUID(uuid.encode(), ctypes.byref(device)) == 0:
                self._library, self._device = opened, device
        except (OSError, AttributeError):
            return

    @property
    def known(self):
        """Whether there is anything to ask."""
        return self._device is not None

    def _ask(self, value, function, *which):
        try:
            failed = getattr(self._library, function)(self._device, *which, ctypes.byref(value))
        except AttributeError:  # an older library
            return 0
        return 0 if failed else value.value

    def sm_clock(self):
        """MHz."""
        return self._ask(ctypes.c_uint(), "nvmlDeviceGetClockInfo", _SM_CLOCK)

    def memory_clock(self):
        """MHz."""
        return self._ask(ctypes.c_uint(), "nvmlDeviceGetClockInfo", _MEMORY_CLOCK)

    def temperature(self):
        """Degrees Celsius."""
        return self._ask(ctypes.c_uint(), "nvmlDeviceGetTemperature", _GPU_TEMPERATURE)

    def power(self):
        """Watts."""
        return self._ask(ctypes.c_uint(), "nvmlDeviceGetPowerUsage") * 1e-3

    def reasons(self):
        """The bits of what holds the clocks back; the second name is that of drivers before 535."""
        for name in ("nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"):
            if hasattr(self._library, name):
                return self._ask(ctypes.c_ulonglong(), name)
        return 0


OTHER_PROCESSES = "other processes"
# Of the time between two looks. A thread that is woken waits for some microseconds on an idle machine, too.
_CONTENDED_SHARE = 0.05


def processor_use():
    """(seconds that the threads of this process waited for a processor, runnable threads of others), or None.

    Linux only; as the C++ worker does it (core/device/processor_contention.cpp).
    """
    try:
        with open("/proc/loadavg", encoding="ascii") as handle:
            runnable = int(handle.read().split()[3].split("/")[0])
        waited, own = 0, 0
        for thread in os.listdir("/proc/self/task"):
            try:
                with open(f"/proc/self/task/{thread}/schedstat", encoding="ascii") as handle:
                    waited += int(handle.read().split()[1])
                with open(f"/proc/self/task/{thread}/stat", encoding="utf-8", errors="replace") as handle:
                    own += handle.read().rpartition(")")[2].split()[0] == "R"
            except FileNotFoundError:  # it has just ended
                continue
        return waited * 1e-9, max(0, runnable - own)
    except (OSError, ValueError, IndexError):
        return None


class Contention:
    """Whether other processes took processors away from this one since it was asked last."""

    def __init__(self, threads, processors=None, query=processor_use, clock=time.monotonic):
        self._threads, self._processors = threads, processors or os.cpu_count() or 1
        self._query, self._clock = query, clock
        self._asked, self._use = clock(), query()

    def is_contended(self):
        """Threads of this process that wait for one another are no contention."""
        asked, before = self._asked, self._use
        self._asked, self._use = self._clock(), self._query() if before else None
        if not self._use:
            return False
        others = self._use[1]
        waited = self._use[0] - before[0]
        is_crowded = others > 0 and others + self._threads > self._processors
        return is_crowded and waited > _CONTENDED_SHARE * (self._asked - asked)


class Watch:
    """Collects the conditions of a measurement. Without `nvml` and `contention` nothing is known or throttled."""

    def __init__(self, nvml=None, contention=None):
        self._nvml = nvml if nvml is not None and nvml.known else None
        self._contention, self._was_contended = contention, False
        self._sm_clocks, self._memory_clocks = [], []
        self._temperature, self._power = 0, 0.0
        self._reasons = 0

    def is_throttled(self):
        """Whether what was timed since the last look was timed on a GPU held back, or beside other processes."""
        if self._contention is not None and self._contention.is_contended():
            self._was_contended = True
            return True
        if self._nvml is None:
            return False
        for clock, into in ((self._nvml.sm_clock(), self._sm_clocks), (self._nvml.memory_clock(), self._memory_clocks)):
            if clock:
                into.append(clock)
        self._temperature = max(self._temperature, self._nvml.temperature())
        self._power = max(self._power, self._nvml.power())
        now = self._nvml.reasons()
        self._reasons |= now
        return any(spoils and now & bit for bit, (_, spoils) in _REASONS.items())

    def summary(self):
        """Medians of the clocks, the most of the rest, over all looks."""
        return {
            "sm_clock_mhz": round(statistics.median(self._sm_clocks)) if self._sm_clocks else 0,
            "lowest_sm_clock_mhz": min(self._sm_clocks, default=0),
            "memory_clock_mhz": round(statistics.median(self._memory_clocks)) if self._memory_clocks else 0,
            "temperature_celsius": self._temperature,
            "power_watts": self._power,
            "throttle_reasons": sorted(
                [word for bit, (word, _) in _REASONS.items() if self._reasons & bit]
                + [OTHER_PROCESSES] * self._was_contended
            ),
        }


def wait_a_moment():
    """The library refreshes its answers about every 20 ms."""
    time.sleep(0.02)
