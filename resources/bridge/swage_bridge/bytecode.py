# SPDX-License-Identifier: Apache-2.0
"""Whether Python writes the bytecode of what it imports."""

import contextlib
import sys


@contextlib.contextmanager
def bytecode(kept):
    """Whether modules that are imported in the block leave their bytecode beside their files."""
    before = sys.dont_write_bytecode
    sys.dont_write_bytecode = not kept
    try:
        yield
    finally:
        sys.dont_write_bytecode = before
