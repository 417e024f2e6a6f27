# SPDX-License-Identifier: Apache-2.0
"""Entry point of `python -m swage_bridge`."""

import os
import sys

from .cli import main

if __name__ == "__main__":
    code = main()
    sys.stderr.flush()
    # The document is out. Leaving at once keeps atexit hooks and threads of the user's code from
    # delaying or changing the exit code.
    os._exit(code)
