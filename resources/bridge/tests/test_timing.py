# SPDX-License-Identifier: Apache-2.0
"""How the bridge measures and classes what it measured. No GPU needed."""

import os
import random
import sys
import unittest

_HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(_HERE))
os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")

import torch  # noqa: E402

from swage_bridge import baseline, compare, timing  # noqa: E402


class AccuracyClass(unittest.TestCase):
    @staticmethod
    def of(dtype, relative, full=1e-7):
        return compare.accuracy_class([(dtype, relative, 0.0)], [(dtype, full, 0.0)])

    def test_is_that_of_the_worker(self):
        self.assertEqual(self.of(torch.float32, 9e-7), "fp32")
        self.assertEqual(self.of(torch.float32, 1.1e-6), "tf32")
        self.assertEqual(self.of(torch.float32, 3e-5, full=2e-5), "fp32")
        self.assertEqual(self.of(torch.float32, 2e-3), "half")
        self.assertEqual(self.of(torch.float32, float("nan")), "half")
        self.assertEqual(self.of(torch.bfloat16, 1e-9), "half")
        self.assertEqual(self.of(torch.float64, 1e-9, full=1e-16), "tf32")
        self.assertEqual(compare.accuracy_class([], []), "fp32")

    def test_the_least_exact_output_decides(self):
        found = [(torch.float32, 1e-7, 0.0), (torch.float32, 3e-4, 0.0)]
        self.assertEqual(compare.accuracy_class(found, [(torch.float32, 1e-7, 0.0)] * 2), "tf32")

    def test_tf32_is_as_it_was_afterwards(self):
        before = torch.backends.cudnn.allow_tf32
        with compare.without_tf32():
            self.assertFalse(torch.backends.cudnn.allow_tf32)
        self.assertEqual(torch.backends.cudnn.allow_tf32, before)


class Timing(unittest.TestCase):
    def test_interval_contains_the_median(self):
        summary = timing.summarise([10.0, 11.0, 12.0, 13.0, 100.0])
        self.assertEqual(summary["median_ns"], 12)
        self.assertTrue(summary["low_ns"] <= 12 <= summary["high_ns"])

    def test_interval_has_the_ranks_of_the_sign_test(self):
        for count, low, high in ((6, 1, 6), (9, 2, 8), (20, 6, 15), (50, 18, 33), (100, 40, 61)):
            self.assertEqual(timing.median_interval(list(range(count, 0, -1))), (low, high), count)
        self.assertEqual(timing.median_interval([3, 1, 2]), (1, 3))

    def test_rounds_take_the_calls_in_changing_orders(self):
        order = []
        calls = {name: (lambda name=name: order.append(name)) for name in "abc"}
        timing.interleave(timing.Clock("cpu"), calls, 0.2)
        rounds = ["".join(order[at : at + 3]) for at in range(0, len(order), 3)]
        self.assertEqual({"".join(sorted(one)) for one in rounds}, {"abc"})
        self.assertGreater(len(set(rounds)), 1)

    def test_short_calls_take_turns_on_streams(self):
        class Streams:
            """A clock that notes the turns, and knows how long each call takes."""

            streams = 3

            def __init__(self):
                self.turns = {"short": [], "long": []}

            def once(self, call, turn=None):
                name, elapsed = call()
                self.turns[name].append(turn)
                return elapsed

        clock = Streams()
        timing.interleave(clock, {"short": lambda: ("short", 3e4), "long": lambda: ("long", 3e6)}, 0.2)
        self.assertEqual(clock.turns["short"][:6], [None, 0, 1, 2, 3, 4])
        self.assertEqual(clock.turns["short"][-1], len(clock.turns["short"]) - 2)
        self.assertEqual(set(clock.turns["long"]), {None})

    def test_a_failing_call_does_not_stop_the_others(self):
        def broken():
            raise ValueError("no")

        measured = timing.interleave(timing.Clock("cpu"), {"a": lambda: None, "b": broken}, 0.05)
        self.assertGreaterEqual(len(measured.samples["a"]), timing.MIN_SAMPLES)
        self.assertEqual(list(measured.failures), ["b"])

    def test_rounds_on_a_throttled_device_are_measured_again(self):
        class Watch:
            """Says what it is told, then that all is well."""

            def __init__(self, answers):
                self._answers = list(answers)

            def is_throttled(self):
                return self._answers.pop(0) if self._answers else False

        class Clock:
            """The n-th call takes n nanoseconds."""

            streams = 0
            calls = 0

            def once(self, _call, _turn=None):
                self.calls += 1
                return self.calls

        calls = {"a": None}
        measured = timing.interleave(Clock(), calls, 0.0, watch=Watch([False, True, True]))
        self.assertEqual(measured.samples["a"], [2, 5, 6, 7, 8], "after one warm-up; 3 and 4 are gone")
        self.assertEqual((measured.repeated, measured.throttled), (2, False))
        measured = timing.interleave(Clock(), calls, 0.0, watch=Watch([True] * 100))
        self.assertEqual(measured.samples["a"], [12, 13, 14, 15, 16], "its patience has an end")
        self.assertTrue(measured.throttled)
        self.assertEqual(timing.summarise(measured.samples["a"], measured.throttled)["stop_reason"], "throttled")


class Rejections(unittest.TestCase):
    """Which of PyTorch's ways KernelBench's checker would reject."""

    class Problem:
        seed = 3

        @staticmethod
        def make_inputs():
            return [torch.randn(50)]

    @staticmethod
    def mode(name, function):
        mode = baseline.Mode("eager", torch.nn.Identity(), [torch.ones(50)])
        mode.name = name
        mode._callable = function
        return mode

    def rejections(self, *modes):
        baseline.find_rejections(self.Problem(), modes, torch.nn.Identity(), torch.device("cpu"))
        return [mode.rejection for mode in modes]

    def test_are_of_those_that_differ_from_eager(self):
        near, far, eager = self.rejections(
            self.mode("compile", lambda x: x * (1 + 1e-5)),
            self.mode("max-autotune", lambda x: x + 2e-3),
            self.mode("eager", lambda x: x + 1.0),
        )
        self.assertEqual((near, eager), ("", ""))
        self.assertRegex(far, r"KernelBench would reject it: against eager, result 0 differs in \d+ of 50 elements")

    def test_look_at_several_draws(self):
        calls = []

        def sometimes(x):
            calls.append(x)
            return x + (1.0 if len(calls) == baseline.CHECKED_DRAWS else 0.0)

        self.assertTrue(self.rejections(self.mode("compile", sometimes))[0])
        self.assertFalse(torch.equal(calls[0], calls[1]))

    def test_leave_the_time_where_it_is(self):
        mode = self.mode("compile", lambda x: x + 1.0)
        self.rejections(mode)
        documents, _ = baseline.time_modes([mode], torch.device("cpu"), 0.01)
        self.assertGreater(documents["compile"]["median_ns"], 0)
        self.assertIn("KernelBench", documents["compile"]["error"])
        self.assertIsNone(baseline.fastest(documents))

    def test_are_asked_for_only_where_the_checker_judges(self):
        self.assertTrue(baseline.has_checker({"kind": "kernelbench"}))
        self.assertFalse(baseline.has_checker({"kind": "kernelbench", "checker": "none"}))
        self.assertFalse(baseline.has_checker({"kind": "module"}))


class Ratio(unittest.TestCase):
    def test_is_that_of_the_medians_with_its_interval_around_it(self):
        reference = [100.0 + at % 3 for at in range(30)]
        value, low, high = timing.ratio([2.0 * ns for ns in reference], reference)
        self.assertEqual(value, 2.0)
        self.assertTrue(1.9 < low <= value <= high < 2.1)
        self.assertFalse(timing.is_uncertain((value, low, high)))

    def test_drift_that_both_saw_cancels(self):
        drift = [1.0 + 0.05 * at for at in range(40)]
        found = timing.ratio([300.0 * now for now in drift], [100.0 * now for now in drift])
        self.assertEqual([round(number, 9) for number in found], [3.0, 3.0, 3.0])

    def test_of_a_busy_machine_is_uncertain(self):
        reference = [100.0 if at % 2 else 400.0 for at in range(10)]
        samples = [100.0 if at % 3 else 500.0 for at in range(10)]
        self.assertTrue(timing.is_uncertain(timing.ratio(samples, reference, throttled=True)))
        self.assertTrue(timing.is_uncertain(timing.ratio(samples, reference)))

    def test_of_a_busy_machine_is_uncertain_although_all_rounds_agree(self):
        self.assertEqual(timing.ratio([300.0] * 9, [100.0] * 9, throttled=True), (3.0, 0.375, 24.0))

    def test_needs_both(self):
        self.assertIsNone(timing.ratio([], [1.0]))
        self.assertIsNone(timing.ratio([1.0], []))
        self.assertFalse(timing.is_uncertain(None))

    def test_an_uncertain_one_gets_more_rounds(self):
        class Clock:
            """Eager takes one of two times, the other is steady."""

            streams = 0

            def __init__(self, slow):
                self._slow, self._draw = slow, random.Random(1)

            def once(self, call, _turn=None):
                return self._slow if call == "e" and self._draw.random() < 0.5 else 100.0

        calls = {"eager": "e", "compile": "c"}
        steady = timing.interleave(Clock(100.0), calls, 60.0, reference="eager")
        self.assertEqual(len(steady.samples["eager"]), timing.MAX_SAMPLES)
        noisy = timing.interleave(Clock(900.0), calls, 60.0, reference="eager")
        self.assertEqual(len(noisy.samples["eager"]), 2 * timing.MAX_SAMPLES)

    def test_eager_is_as_fast_as_eager_and_what_failed_has_none(self):
        measured = timing.Measured({"eager": [100.0] * 9, "compile": [50.0] * 9, "broken": []}, {})
        documents = {"eager": {"error": None}, "compile": {"error": None}, "broken": {"error": "no"}}

        def of(name):
            return list(baseline.eager_speedup(name, documents, measured).values())

        self.assertEqual(of("eager"), [1.0, 1.0, 1.0])
        self.assertEqual(of("compile"), [0.5, 0.5, 0.5])
        self.assertEqual(of("broken"), [None, None, None])


if __name__ == "__main__":
    unittest.main()
