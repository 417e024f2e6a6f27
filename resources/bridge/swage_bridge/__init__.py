# SPDX-License-Identifier: Apache-2.0
"""Swage's bridge to the user's Python: import, baselines, environment probe and checks of exports.

Run as ``python -m swage_bridge COMMAND``. Every command prints exactly one JSON document on
standard output; whatever the user's own code prints goes to standard error.
"""

SCHEMA = 1
"""Version of the task bundle that this package writes and reads (core/wire/TASK_FORMAT.md)."""
