# SPDX-License-Identifier: Apache-2.0
"""What a GPU was doing while something on it was timed: clocks, heat, power and what held it back.

Asks NVIDIA's management library (NVML) by ctypes: PyTorch's own functions for this need a package that a
user's environment may lack. What cannot be asked is 0, as in the C++ worker (core/device/nvml.cpp), whose
words for the reasons these are. Nothing here raises.
"""

from __future__ import annotations

import ctypes
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


class Watch:
    """Collects the conditions of a measurement. `nvml` may be None: nothing is known, nothing is throttled."""

    def __init__(self, nvml=None):
        self._nvml = nvml if nvml is not None and nvml.known else None
        self._sm_clocks, self._memory_clocks = [], []
        self._temperature, self._power = 0, 0.0
        self._reasons = 0

    def is_throttled(self):
        """Looks at the GPU: whether what was timed since the last look was timed on a GPU held back."""
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
            "throttle_reasons": sorted(word for bit, (word, _) in _REASONS.items() if self._reasons & bit),
        }


def wait_a_moment():
    """The library refreshes its answers about every 20 ms."""
    time.sleep(0.02)
