# SPDX-License-Identifier: Apache-2.0
"""Makes one small file of a finished project (resources/demo/README.md).

pack_recording.py PROJECT FILE        writes the file
pack_recording.py --elites PROJECT    prints the best candidate of every cell, one on a line
"""

import pathlib
import sqlite3
import struct
import sys
import tempfile
import zlib

MOST_BYTES = 3_000_000
ELITES = "SELECT best_candidate FROM cells WHERE best_candidate IS NOT NULL"


def open_record(project: pathlib.Path) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{project / 'runs.sqlite'}?mode=ro", uri=True)


def database(project: pathlib.Path) -> tuple[bytes, list[str]]:
    """The record without its write-ahead log, and without where it was made; and the hashes of what lies beside it."""
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "runs.sqlite"
        source = open_record(project)
        target = sqlite3.connect(copy)
        source.backup(target)
        target.execute("UPDATE runs SET bundle_path = 'tasks/' || name FROM tasks WHERE tasks.id = runs.task_id")
        for key, value in (("host", "recorded"), ("uuid", "recorded")):
            target.execute("UPDATE runs SET device_json = json_set(device_json, ?, ?)", (f"$.{key}", value))
        target.execute("UPDATE runs SET options_json = json_set(options_json, '$.task', bundle_path)")
        # Assembly and binaries are most of a record; those of the best of each cell are enough to read and to export.
        target.execute(f"UPDATE candidate_details SET assembly_artifact = NULL WHERE id NOT IN ({ELITES})")
        target.execute("DELETE FROM binaries WHERE hash NOT IN "
                       f"(SELECT binary_hash FROM candidate_details WHERE binary_hash IS NOT NULL AND id IN ({ELITES}))")
        used = " UNION ".join(f"SELECT {column} FROM candidate_details WHERE {column} IS NOT NULL"
                              for column in ("source_artifact", "plan_artifact", "assembly_artifact", "log_artifact"))
        target.execute(f"DELETE FROM artifacts WHERE id NOT IN ({used} "
                       "UNION SELECT json_artifact FROM tasks UNION SELECT json_artifact FROM profiles "
                       "UNION SELECT artifact FROM binaries)")
        target.commit()
        target.execute("PRAGMA journal_mode = DELETE")
        target.execute("VACUUM")
        beside = [name for (name,) in target.execute("SELECT hash FROM artifacts WHERE bytes IS NULL")]
        target.close()
        return copy.read_bytes(), beside


def entry(name: str, content: bytes) -> bytes:
    encoded = name.encode()
    return struct.pack(">I", len(encoded)) + encoded + struct.pack(">I", len(content)) + content


def pack(project: pathlib.Path, output: pathlib.Path) -> int:
    record, beside = database(project)
    plain = entry("runs.sqlite", record)
    for name in beside:  # too large for a row
        file = f"artifacts/{name[:2]}/{name}.zst"
        plain += entry(file, (project / file).read_bytes())
    packed = struct.pack(">I", len(plain)) + zlib.compress(plain, 9)
    if len(packed) > MOST_BYTES:
        print(f"error: {len(packed)} bytes are too many for a recording (at most {MOST_BYTES})\n"
              "hint: search for a shorter time, or with fewer evaluations", file=sys.stderr)
        return 1
    output.write_bytes(packed)
    return 0


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    if sys.argv[1] == "--elites":
        for (candidate,) in open_record(pathlib.Path(sys.argv[2])).execute(f"SELECT DISTINCT * FROM ({ELITES})"):
            print(candidate)
        return 0
    return pack(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))


if __name__ == "__main__":
    sys.exit(main())
