#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the README's table of `swage bench engine` from what it printed.

    swage bench engine --target cuda --time-budget 60s --json > resources/bench/engine.json
    packaging/bench_section.py            replace the table
    packaging/bench_section.py --check    exit with 1 where the README says something else
"""

import json
import pathlib
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULT = ROOT / "resources" / "bench" / "engine.json"
README = ROOT / "README.md"
BEGIN = "<!-- from resources/bench/engine.json by packaging/bench_section.py -->\n"
END = "<!-- end -->\n"


def duration(nanoseconds: float) -> str:
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.3g} {unit}"
    return f"{nanoseconds:.3g} ns"


def percent(share: float, digits: int = 0) -> str:
    return f"{100 * share:.{digits}f} %"


def section(result: dict) -> str:
    """The table, as Markdown. `result` is the document that `swage bench engine --json` prints; its times are in ms and ns."""
    stages = [f"{name} {result['stages'][name]['mean_ms']:.3g} ms" for name in ("compile", "verify", "time")]
    baselines = [f"{one['mode']} {duration(one['timing']['median_ns'])}" for one in result["baselines"]]
    fresh = result["fresh_processes"]
    rows = [
        ("candidates a minute, compiled, verified and timed", f"{result['candidates_per_minute']:,.0f}"),
        ("of them correct", f"{result['correct']:,} of {result['candidates']:,}"),
        ("one candidate (compilers work beside each other)", ", ".join(stages)),
        ("the worker busy, the GPU busy", f"{percent(result['worker_busy_share'])}, {percent(result['gpu_busy_share'])}"),
        ("PyTorch on the same task", ", ".join(sorted(baselines))),
        (
            f"the winner in {len(fresh['medians_ns'])} fresh processes",
            f"{duration(statistics.median(fresh['medians_ns']))}, all medians within {percent(fresh['spread'], 2)}",
        ),
        (
            "launching an empty kernel in these processes",
            f"{duration(min(fresh['launches_ns']))} to {duration(max(fresh['launches_ns']))}; without it all medians"
            f" within {percent(fresh['spread_beside_launch'], 2)}",
        ),
    ]
    lines = [f"| {result['task']}, {result['device']}, {result['search_seconds']:.0f} s | |", "|---|---|"]
    return "\n".join(lines + [f"| {what} | {value} |" for what, value in rows]) + "\n"


def main() -> int:
    text = README.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        print(f"bench_section: {README} has no place for the table: {BEGIN.strip()} … {END.strip()}", file=sys.stderr)
        return 1
    wanted = before + BEGIN + section(json.loads(RESULT.read_text(encoding="utf-8"))) + END + after
    if "--check" not in sys.argv[1:]:
        README.write_text(wanted, encoding="utf-8")
        return 0
    if wanted != text:
        print("bench_section: the README's table is not what resources/bench/engine.json says; run it to write it anew",
              file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
