# SPDX-License-Identifier: Apache-2.0
"""Times a task by a plain PyTorch loop with the same flush, then by the bridge, and prints both.

    python tests/bridge/plain_timing.py FILE.py BUNDLE_DIR [NAME=NUMBER…]

BUNDLE_DIR is what `swage import FILE.py --set NAME=NUMBER` made. The plain loop flushes once before a
call, and in a second series three times, as the bridge does: where the two differ, Python took longer to
submit the call than one flush lasts, and the first one timed Python. Ends with 1 when the second is more
than 3 % from the bridge's, with 77 without a GPU.
"""

import json
import os
import statistics
import subprocess
import sys

import torch

LIMIT = 0.03
FLUSHES = 3
BRIDGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../resources/bridge")


def plain(model, inputs, device, flushes, calls=100):
    """Median nanoseconds of a call after `flushes` writes of twice the L2 cache, by events."""
    l2 = torch.cuda.get_device_properties(device).L2_cache_size
    flush = torch.empty(max(2 * l2, 256 << 20), dtype=torch.uint8, device=device)
    times = []
    for call in range(calls + 10):
        start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda.synchronize()
        for write in range(flushes):
            flush.fill_((call * flushes + write) % 251)
        start.record()
        with torch.no_grad():
            model(*inputs)
        stop.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(stop) * 1e6)
    return statistics.median(times[10:])


def main(file, bundle, *overrides):
    if not torch.cuda.is_available():
        return 77
    device, scope = "cuda:0", {}
    with open(file, encoding="utf-8") as handle:
        exec(compile(handle.read(), file, "exec"), scope)  # the user's own task
    scope.update((name, int(value)) for name, value in (text.split("=") for text in overrides))
    with torch.device(device):
        model, inputs = scope["Model"](*scope["get_init_inputs"]()).to(device), scope["get_inputs"]()
    calls = {"eager": model, "compile": torch.compile(model)}
    once, own = ({name: plain(call, inputs, device, flushes) for name, call in calls.items()} for flushes in (1, FLUSHES))
    command = [sys.executable, "-m", "swage_bridge", "baseline", bundle, "--device", device, "--modes", "eager,compile"]
    result = subprocess.run(command, env={**os.environ, "PYTHONPATH": BRIDGE}, check=True, stdout=subprocess.PIPE)
    worst = 0.0
    for name, mode in json.loads(result.stdout)["modes"].items():
        ratio = mode["median_ns"] / own[name]
        worst = max(worst, abs(ratio - 1.0))
        print(f"{name}: plain {own[name]:.0f} ns ({once[name]:.0f} with one flush), bridge {mode['median_ns']} ns, ratio {ratio:.4f}")
    return int(worst > LIMIT)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
