#!/usr/bin/env python3
"""ntrace view in a terminal of tmux: what is on the screen after keys."""
import os
import re
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from gdb import bundle  # noqa: E402
from harness import NTRACE, Run, case, check, equal, main, matches, scratch, skip  # noqa: E402


class Terminal:
    """A terminal of 80 columns and 24 lines that shows the trace."""

    def __init__(self, path):
        if not shutil.which("tmux"):
            skip("no tmux")
        self.socket = os.path.join(scratch(), f"tmux-{time.monotonic_ns()}")
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", f"'{NTRACE}' view '{path}'; echo status $?; sleep 60")
        self.until("instruction 0 of")

    def tmux(self, *arguments):
        done = subprocess.run(["tmux", "-S", self.socket, *arguments], capture_output=True, text=True, timeout=30,
                              env=dict(os.environ, TERM="xterm", LC_ALL="C.UTF-8"))
        return done.stdout

    def screen(self):
        return self.tmux("capture-pane", "-p")

    def until(self, pattern):
        """The screen as soon as it has the pattern."""
        for _ in range(150):
            text = self.screen()
            if re.search(pattern, text, re.M):
                return text
            time.sleep(0.05)
        check(False, f"expected {pattern!r} on the screen, found\n{self.screen()}")

    def keys(self, *keys):
        self.tmux("send-keys", *keys)

    def place(self):
        return int(re.search(r"instruction (\d+) of", self.screen()).group(1))

    def moved(self, before):
        for _ in range(100):
            if self.place() != before:
                return self.place()
            time.sleep(0.05)
        check(False, f"the place is {before} still")

    def close(self):
        self.tmux("kill-server")


@case("search, step, next, finish, in both directions")
def walk():
    path = bundle("calls")
    pcs = [int(line, 16) for line in Run("decode", "--output", "pc", path).lines()]
    t = Terminal(path)
    try:
        t.keys("/", "leaf", "Enter")
        text = t.until(r"#0 +leaf:\d+\s*$")
        matches(r"calls\.c +leaf", text, "titles")
        matches(r">\s+\d+ +return x \* 3 \+ sink;", text, "the source line")
        matches(r"#1 +middle:\d+\n(.*\n)*.*#2 +main:\d+", text, "the call stack")
        leaf = t.place()
        matches(rf">{pcs[leaf]:x}  \S", text, "the disassembly")
        t.keys("i")
        equal(t.moved(leaf), leaf + 1, "i")
        t.keys("I")
        equal(t.moved(leaf + 1), leaf, "I")
        t.keys("f")
        t.until("#0 +middle")
        behind = t.place()
        check(behind > leaf and pcs[behind - 1] != pcs[leaf], "f is behind the call")
        t.keys("N")
        check(t.moved(behind) < leaf, "N goes back over the call")
        t.until("#0 +middle")
        t.keys("/", "leaf", "Enter")
        t.until("#0 +leaf")
        t.keys("F")
        t.until("#0 +middle")
        equal(pcs[t.place() + 1], pcs[leaf], "F is at the call")
        t.keys("s")
        t.until("#0 +leaf")
        t.keys("?", "main", "Enter")
        t.until(r"#0 +main")
        t.keys("/", "nothing", "Enter")
        t.until("no such function")
        t.keys("/", "calls.c:17", "Enter")
        t.until(r">\s+17 ")
        t.keys("g", "#1", "Enter")
        t.until("instruction 0 of")
    finally:
        t.close()


@case("per cent by keys and by the mouse, both ends, another size, quitting")
def places():
    t = Terminal(bundle("calls"))
    try:
        t.keys("5")
        t.until(r"^ (49|50)%")
        t.keys("End")
        t.until(r"100%  instruction (\d+) of \1 .*end")
        t.keys("s")
        t.until("the end of the trace")
        t.keys("Home")
        t.until("0%  instruction 0 of")
        t.keys("I")
        t.until("the beginning of the trace")
        column, row = chr(32 + 41), chr(32 + 23) # as the terminal type of tmux encodes a click
        t.tmux("send-keys", "-l", f"\x1b[M {column}{row}\x1b[M#{column}{row}")
        t.until(r"^ (49|50|51)%")
        t.tmux("resize-window", "-x", "120", "-y", "40")
        for _ in range(100):
            rows = t.screen().splitlines()
            if len(rows) == 40 and "q quit" in rows[-1]:
                break
            time.sleep(0.05)
        check("q quit" in rows[-1] and len(rows) == 40 and max(map(len, rows)) > 80, f"the size of the terminal:\n{t.screen()}")
        t.tmux("resize-window", "-x", "30", "-y", "5")
        t.until("too small")
        t.tmux("resize-window", "-x", "80", "-y", "24")
        t.until("call stack")
        t.keys("q")
        t.until("status 0")
    finally:
        t.close()


@case("without a terminal")
def none():
    matches("expected a terminal", Run("view", bundle("calls"), status=2).err, "message")


main()
