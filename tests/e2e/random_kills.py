# SPDX-License-Identifier: Apache-2.0
"""Kills engine, worker, compiler and cell of a search at random, also while they start and load:

random_kills.py CASE --bin FOLDER --root PROJECT        SWAGE_KILLS: how many, 100 by default; SWAGE_KILL_SEED

After every kill the search goes on by itself, or ends with a record that `swage resume` goes on from. Nothing that was
recorded is lost, and no process is left behind.
"""

import collections
import json
import os
import random
import signal
import sqlite3
import subprocess
import time

from world import run_case

ROLES = ("engine", "swage-worker", "swage-compiler", "swage-cell")
LONGEST_WAIT = 60.0
ABANDONED = 11.0  # after so long a compiler removes what killed ones have left


def _processes():
    """Parent, name and start of every process."""
    found = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as file:
                    name, rest = file.read().split(" (", 1)[1].rsplit(") ", 1)
            except OSError:
                continue  # has ended meanwhile
            fields = rest.split()
            if fields[0] != "Z":
                found[int(entry)] = (int(fields[1]), name, fields[19])
    return found


def _below(root):
    """All that descends from a process, with itself: name and start by number."""
    everybody = _processes()
    children = collections.defaultdict(list)
    for process, (parent, _, _) in everybody.items():
        children[parent].append(process)
    found, ahead = {}, [root]
    while ahead:
        process = ahead.pop()
        if process in everybody:
            found[process] = everybody[process][1:]
        ahead += children[process]
    return found


class Search:
    """One search that is begun, killed, and taken up again."""

    def __init__(self, world):
        self.world = world
        self.task = world.task()
        self.temporary = world.folder / "tmp"
        self.temporary.mkdir()
        self.environment = dict(world.environment, TMPDIR=str(self.temporary))
        self.process = None
        self.log = None
        self.seen = {}
        self.known = 0

    def command(self):
        common = ["--project", self.world.project, "--no-self-test", "--time-budget", "3600s", "--json"]
        if self.rows():
            return self.world.command("resume", *common)
        return self.world.command("optimize", self.task, "--target", "cpu", "--no-compile-baseline", *common)

    def start(self):
        self.log = open(self.world.folder / "log", "w+", encoding="utf-8")  # noqa: SIM115 - as long as the process
        self.process = subprocess.Popen(self.command(), env=self.environment, cwd=self.world.folder,
                                        stdout=subprocess.DEVNULL, stderr=self.log)

    def look(self):
        """What lives of it now."""
        alive = _below(self.process.pid)
        self.seen.update(alive)
        return alive

    def rows(self):
        """Recorded candidates; none may get lost, and the database is whole whenever one looks."""
        database = self.world.project / "runs.sqlite"
        if not database.exists():
            return 0
        with sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=30) as connection:
            try:
                assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
                count = connection.execute("SELECT count(*) FROM candidates").fetchone()[0]
            except sqlite3.OperationalError as error:
                assert "no such table" in str(error), error  # killed before its tables were made
                return 0
        assert count >= self.known, f"{self.known} candidates were recorded, {count} are there"
        self.known = count
        return count

    def kill(self, role):
        """Whether there was one to kill."""
        alive = self.look()
        named = [process for process, (name, _) in alive.items() if name == role[:15] and process != self.process.pid]
        chosen = [self.process.pid] if role == "engine" and self.process.pid in alive else named
        if not chosen:
            return False
        try:
            os.kill(random.choice(chosen), signal.SIGKILL)
        except ProcessLookupError:
            return False
        return True

    def has_ended(self, killed):
        """After the kill; a search that ends because of one says why."""
        if self.process.poll() is None:
            return False
        self.log.seek(0)
        said = self.log.read()
        assert killed == "engine" or said.strip(), "it ended without a word"
        assert "Traceback" not in said and "assertion" not in said, said
        self.log.close()
        return True

    def leaves_nothing_behind(self):
        """What once descended from the search is gone."""
        deadline = time.monotonic() + LONGEST_WAIT
        left = {}
        while time.monotonic() < deadline:
            everybody = _processes()
            left = {process: what for process, what in self.seen.items()
                    if process in everybody and everybody[process][1:] == what}
            if not left:
                self.seen = {}
                return
            time.sleep(0.1)
        raise AssertionError(f"left behind: {left}")


def a_search_survives_random_kills(world):
    """Cell, worker, compiler and engine, at any moment."""
    seed = int(os.environ.get("SWAGE_KILL_SEED", str(random.SystemRandom().randrange(10**6))))
    wanted = int(os.environ.get("SWAGE_KILLS", "100"))
    print(f"seed {seed}", flush=True)
    random.seed(seed)
    search = Search(world)
    kills, endings = collections.Counter(), collections.Counter()
    search.start()
    while sum(kills.values()) < wanted:
        role = random.choice(ROLES)
        time.sleep(random.uniform(0.0, 3.0))
        # A cell lives for a fraction of a second.
        deadline = time.monotonic() + LONGEST_WAIT
        while not (killed := search.kill(role)) and search.process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.005)
        kills[role] += 1 if killed else 0
        if role == "engine" and killed:
            search.process.wait(LONGEST_WAIT)
        if search.has_ended(role if killed else ""):
            endings[role] += 1
            search.leaves_nothing_behind()
            search.start()
    search.process.send_signal(signal.SIGINT)
    search.process.wait(LONGEST_WAIT)
    search.leaves_nothing_behind()
    before = search.rows()
    time.sleep(ABANDONED)
    world.run("resume", "--project", world.project, "--time-budget", "5s", "--json", "--no-self-test",
              environment=search.environment)
    search.rows()
    left = [name for name in os.listdir(search.temporary) if name.startswith("swage")]
    print(json.dumps({"kills": kills, "endings": endings, "candidates": before, "temporary": left}), flush=True)
    assert not left, left
    assert all(kills[role] > 0 for role in ROLES) or wanted < 20, kills


run_case(globals())
