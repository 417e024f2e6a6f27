# SPDX-License-Identifier: Apache-2.0
"""A program's window as a person has it: seen through its accessibility tree, moved by the X server's mouse and keys.

What is looked for is named as a screen reader would name it, so whatever this finds can be found without seeing it.
"""

import mmap
import os
import pathlib
import struct
import subprocess
import time
import zlib

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, GLib  # noqa: E402 (the version comes first)

# Programs that compile and measure beside the window keep it from answering at once.
ANSWER_MS = 20000
POLL_SECONDS = 0.1
# Their children are rows, of which there may be a million.
LARGE = {Atspi.Role.TABLE, Atspi.Role.TREE, Atspi.Role.TREE_TABLE, Atspi.Role.LIST}
SETTLING_SECONDS = 0.15  # longer than a frame, and than the window takes to follow a change


def wait_for(what, found, seconds=30.0):
    """The first answer of `found` that counts as true; AssertionError naming `what` when there is none in time."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            answer = found()
        except GLib.Error:  # what was being looked at has gone meanwhile
            answer = None
        if answer:
            return answer
        assert time.monotonic() < deadline, f"not within {seconds:.0f} s: {what}"
        time.sleep(POLL_SECONDS)


def _xdotool(*arguments):
    subprocess.run(["xdotool", *map(str, arguments)], check=True, timeout=60)


def press(*keys):
    """Presses keys, such as `ctrl+Return`, one after the other."""
    _xdotool("key", "--clearmodifiers", *keys)


def write(text):
    """Types a text."""
    _xdotool("type", "--clearmodifiers", "--delay", 8, text)


class Thing:
    """One accessible object of a window."""

    def __init__(self, accessible):
        self.accessible = accessible

    @property
    def name(self):
        return self.accessible.get_name() or ""

    @property
    def role(self):
        return self.accessible.get_role()

    def has(self, state):
        """Whether it is in a state of Atspi.StateType."""
        return self.accessible.get_state_set().contains(state)

    @property
    def is_shown(self):
        """Whether it can be seen. Docks that lie behind others are kept left of the screen."""
        return self.has(Atspi.StateType.SHOWING) and (self.role != Atspi.Role.FRAME or self.box().x >= 0)

    def box(self):
        """Its place on the screen."""
        return self.accessible.get_extents(Atspi.CoordType.SCREEN)

    @property
    def is_enabled(self):
        return self.has(Atspi.StateType.ENABLED)

    @property
    def text(self):
        """What stands in a field."""
        return Atspi.Text.get_text(self.accessible, 0, Atspi.Text.get_character_count(self.accessible))

    def children(self):
        for index in range(self.accessible.get_child_count()):
            child = self.accessible.get_child_at_index(index)
            if child is not None:
                yield Thing(child)

    def below(self):
        """Everything under it that is shown, itself first, without the rows of tables."""
        yield self
        if self.role not in LARGE:
            for child in self.children():
                if child.is_shown:
                    yield from child.below()

    def centre(self):
        box = self.box()
        assert box.width > 0 and box.height > 0, f"{self} has no place on the screen"
        return box.x + box.width // 2, box.y + box.height // 2

    def settled_centre(self):
        """Where it stays: a window that has just been shown or filled is still being laid out."""
        seen = [self.centre()]

        def rests():
            time.sleep(SETTLING_SECONDS)
            seen.append(self.centre())
            return seen[-1] == seen[-2]
        wait_for(f"{self} stays where it is", rests)
        return seen[-1]

    def click(self, times=1):
        x, y = self.settled_centre()
        _xdotool("mousemove", x, y, "click", "--repeat", times, "--delay", 60, 1)

    def drag_to(self, other):
        """Takes it to another thing by the mouse, in steps, as a hand would."""
        (x, y), (end_x, end_y) = self.centre(), other.centre()
        steps = 8
        path = []
        for step in range(1, steps + 1):
            path += ["mousemove", x + (end_x - x) * step // steps, y + (end_y - y) * step // steps, "sleep", 0.03]
        _xdotool("mousemove", x, y, "mousedown", 1, *path, "mouseup", 1)

    def __str__(self):
        return f"{self.accessible.get_role_name()} '{self.name}'"


class Program:
    """A running program with windows; gone when it has ended."""

    def __init__(self, command, environment, log):
        self.log = pathlib.Path(log)
        with self.log.open("wb") as output:
            self.process = subprocess.Popen(command, env=environment, stdout=output, stderr=subprocess.STDOUT)
        Atspi.set_timeout(ANSWER_MS, ANSWER_MS)
        self.root = wait_for("the program is known to assistive technology", self._look)

    def _look(self):
        assert self.process.poll() is None, f"the program has ended: {self.log.read_text(errors='replace')}"
        desktop = Atspi.get_desktop(0)
        for index in range(desktop.get_child_count()):
            child = desktop.get_child_at_index(index)
            if child is not None and child.get_process_id() == self.process.pid:
                # No loop delivers the events that would keep a cache true.
                child.set_cache_mask(Atspi.Cache.NONE)
                return Thing(child)
        return None

    def things(self, role=None, named=None):
        """What is shown; `named` is what the name begins with, or tells whether a name is meant."""
        is_meant = named if callable(named) else lambda name: named is None or name.startswith(named)
        for thing in self.root.below():
            if (role is None or thing.role == role) and is_meant(thing.name):
                yield thing

    def find(self, role, named=None, seconds=30.0):
        """The first such thing, as soon as it is shown."""
        return wait_for(f"there is a {Atspi.role_get_name(role) if role else 'thing'} {named or ''}",
                        lambda: self._running() and next(self.things(role, named), None), seconds)

    def says(self, words, seconds=30.0):
        """Waits until some label has the words."""
        return self.find(Atspi.Role.LABEL, lambda name: words in name, seconds)

    def enabled(self, role, named, seconds=30.0):
        """The first such thing that can be used."""
        return wait_for(f"{named} can be used",
                        lambda: self._running() and next((t for t in self.things(role, named) if t.is_enabled), None), seconds)

    def focus(self, title):
        """Gives the keyboard to a window; without a window manager nobody else does."""
        _xdotool("search", "--sync", "--onlyvisible", "--pid", self.process.pid, "--name", title, "windowfocus", "--sync")

    def _running(self):
        assert self.process.poll() is None, f"the program has ended with {self.process.returncode}"
        return True

    def tree(self):
        """What is shown, as text, for a failure that nobody was there to see."""
        lines = []

        def add(thing, depth):
            lines.append("  " * depth + str(thing))
            if thing.role not in LARGE:
                for child in thing.children():
                    if child.is_shown:
                        add(child, depth + 1)

        add(self.root, 0)
        return "\n".join(lines)

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


def save_picture(file):
    """Writes what the X server shows as a PNG; it keeps its frame buffer in the file SWAGE_SCREEN (XWD, version 7)."""
    source = os.environ.get("SWAGE_SCREEN")
    if source is None:
        return
    with open(source, "rb") as screen, mmap.mmap(screen.fileno(), 0, access=mmap.ACCESS_READ) as buffer:
        header = struct.unpack(">25I", buffer[:100])
        header_bytes, width, height, line_bytes, colors = header[0], header[4], header[5], header[12], header[19]
        start = header_bytes + colors * 12
        rows = bytearray()
        for y in range(height):
            line = buffer[start + y * line_bytes:start + y * line_bytes + width * 4]
            rows += b"\0" + bytes(value for x in range(0, width * 4, 4) for value in (line[x + 2], line[x + 1], line[x]))

    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    pathlib.Path(file).write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
                                   + chunk(b"IDAT", zlib.compress(bytes(rows), 6)) + chunk(b"IEND", b""))
