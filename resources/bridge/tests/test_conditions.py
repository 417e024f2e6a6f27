# SPDX-License-Identifier: Apache-2.0
"""What the bridge makes of NVIDIA's management library, with a stand-in for it."""

import os
import sys
import unittest
from unittest import mock

_HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(_HERE))
os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")

from swage_bridge import conditions  # noqa: E402

_FAKE = os.environ.get("SWAGE_FAKE_NVML_LIBRARY", "")
_NOTHING = {
    "sm_clock_mhz": 0,
    "lowest_sm_clock_mhz": 0,
    "memory_clock_mhz": 0,
    "temperature_celsius": 0,
    "power_watts": 0.0,
    "throttle_reasons": [],
}


@unittest.skipUnless(_FAKE, "needs the stand-in of tests/fake_nvml")
class WithALibrary(unittest.TestCase):
    @staticmethod
    def watch(script, uuid="GPU-fake"):
        with mock.patch.dict(os.environ, {"SWAGE_FAKE_NVML": script}):
            return conditions.Watch(conditions.Nvml(uuid, _FAKE))

    def test_every_look_counts(self):
        watch = self.watch("1980,3201,40,300000,0;1965,3201,43,310500,0x4;1900,3201,41,200000,0")
        self.assertFalse(watch.is_throttled())
        self.assertFalse(watch.is_throttled(), "a power cap is how the device works")
        self.assertFalse(watch.is_throttled())
        self.assertEqual(
            watch.summary(),
            {
                "sm_clock_mhz": 1965,
                "lowest_sm_clock_mhz": 1900,
                "memory_clock_mhz": 3201,
                "temperature_celsius": 43,
                "power_watts": 310.5,
                "throttle_reasons": ["power cap"],
            },
        )

    def test_heat_throttles(self):
        watch = self.watch("1980,3201,40,300000,0x20;1980,3201,40,300000,0")
        self.assertTrue(watch.is_throttled())
        self.assertFalse(watch.is_throttled())
        self.assertEqual(watch.summary()["throttle_reasons"], ["thermal"])

    def test_another_device_is_not_known(self):
        watch = self.watch("1980,3201,40,300000,0x20", "GPU-other")
        self.assertFalse(watch.is_throttled())
        self.assertEqual(watch.summary(), _NOTHING)


class WithoutALibrary(unittest.TestCase):
    def test_nothing_is_known(self):
        for nvml in (None, conditions.Nvml("GPU-fake", "libno-such-library.so.1")):
            watch = conditions.Watch(nvml)
            self.assertFalse(watch.is_throttled())
            self.assertEqual(watch.summary(), _NOTHING)


class Contention(unittest.TestCase):
    """Two processors, two threads of ours, a look each second."""

    @staticmethod
    def looks(*uses):
        seconds = iter(range(100))
        answers = iter(uses)
        watch = conditions.Watch(
            contention=conditions.Contention(2, 2, query=lambda: next(answers), clock=lambda: next(seconds))
        )
        return [watch.is_throttled() for _ in uses[1:]], watch.summary()["throttle_reasons"]

    def test_is_waiting_beside_other_processes(self):
        found, reasons = self.looks((0.0, 0), (0.3, 4), (0.31, 4), (0.9, 0))
        self.assertEqual(found, [True, False, False], "hardly waited; waited for itself")
        self.assertEqual(reasons, ["other processes"])

    def test_is_not_known_everywhere(self):
        self.assertEqual(self.looks(None, None), ([False], []))

    def test_can_be_asked_here(self):
        use = conditions.processor_use()
        if use is not None:
            self.assertGreaterEqual(use[0], 0.0)
            self.assertGreaterEqual(use[1], 0)


if __name__ == "__main__":
    unittest.main()
