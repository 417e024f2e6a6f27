# SPDX-License-Identifier: Apache-2.0
"""pack_recording.py PROJECT FILE: makes one small file of a finished project (resources/demo/README.md)."""

import pathlib
import sqlite3
import struct
import sys
import tempfile
import zlib

MOST_BYTES = 300_000


def database(project: pathlib.Path) -> bytes:
    """The record without its write-ahead log, and without where it was made."""
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "runs.sqlite"
        source = sqlite3.connect(f"file:{project / 'runs.sqlite'}?mode=ro", uri=True)
        target = sqlite3.connect(copy)
        source.backup(target)
        target.execute("UPDATE runs SET bundle_path = 'tasks/' || name FROM tasks WHERE tasks.id = runs.task_id")
        for key, value in (("host", "recorded"), ("uuid", "CPU-recorded")):
            target.execute("UPDATE runs SET device_json = json_set(device_json, ?, ?)", (f"$.{key}", value))
        target.execute("UPDATE runs SET options_json = json_set(options_json, '$.task', bundle_path)")
        # Assembly is most of a record; that of the best of each cell is enough to read.
        target.execute("UPDATE candidate_details SET assembly_artifact = NULL "
                       "WHERE id NOT IN (SELECT best_candidate FROM cells WHERE best_candidate IS NOT NULL)")
        target.execute("DELETE FROM binaries")
        used = " UNION ".join(f"SELECT {column} FROM candidate_details WHERE {column} IS NOT NULL"
                              for column in ("source_artifact", "plan_artifact", "assembly_artifact", "log_artifact"))
        target.execute(f"DELETE FROM artifacts WHERE id NOT IN ({used} "
                       "UNION SELECT json_artifact FROM tasks UNION SELECT json_artifact FROM profiles)")
        target.commit()
        target.execute("PRAGMA journal_mode = DELETE")
        target.execute("VACUUM")
        target.close()
        return copy.read_bytes()


def entry(name: str, content: bytes) -> bytes:
    encoded = name.encode()
    return struct.pack(">I", len(encoded)) + encoded + struct.pack(">I", len(content)) + content


def main() -> int:
    project, output = map(pathlib.Path, sys.argv[1:3])
    plain = entry("runs.sqlite", database(project))
    packed = struct.pack(">I", len(plain)) + zlib.compress(plain, 9)
    if len(packed) > MOST_BYTES:
        print(f"{len(packed)} bytes are too many: record a shorter search", file=sys.stderr)
        return 1
    output.write_bytes(packed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
