#!/usr/bin/env python3
"""ntrace top on a terminal: what a live stream executes, in tables that fit the window."""
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import threading
import time

sys.path.append(os.path.join(sys.path[0], ".."))
import tiny
from harness import DEADLINE, NTRACE, bytes_of, case, check, equal, main, matches, write

CLEAR, CONTEXTS = "\x1b[?7l\x1b[H\x1b[2J", 30


def stream():
    """Contexts 1 to 30; each executes the function more often than the one before, and ends with exceptions and an interrupt."""
    trap = "IndirectBranchHist BTYPE=%d ICNT=3 UADDR=0x0 HIST=0x1\n"
    contexts = (f"Ownership PROCESS={number << 5 | 2:#x}\n" + trap % 2 * number + trap % 3 for number in range(1, CONTEXTS + 1))
    return bytes_of("ProgTraceSync SYNC=3 ICNT=0 FADDR=0x800\n" + "".join(contexts))


class Terminal:
    """A pseudo terminal with `ntrace top`, whose standard input gets the stream again and again."""

    def __init__(self, *arguments):
        self.end, other = pty.openpty()
        self.text, self.goes_on = "", True
        self.resize(40, 100)
        self.process = subprocess.Popen([NTRACE, "top", "-", *arguments], stdin=subprocess.PIPE, stdout=other, stderr=subprocess.PIPE)
        os.close(other)
        self.sender = threading.Thread(target=self.send, args=(stream(),))
        self.sender.start()

    def send(self, data):
        while self.goes_on:
            self.process.stdin.write(data)
            self.process.stdin.flush()
            time.sleep(0.005)
        self.process.stdin.close()

    def resize(self, lines, columns):
        fcntl.ioctl(self.end, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def receive(self, seconds):
        """Returns false at the end, or when nothing comes."""
        try:
            if not select.select([self.end], [], [], seconds)[0]:
                return False
            self.text += os.read(self.end, 65536).decode()
            return True
        except OSError:  # the other end is closed
            return False

    def table(self):
        """The next table that has instructions, as lines."""
        while True:
            tables = self.text.split(CLEAR)
            if len(tables) > 2:
                self.text = CLEAR + CLEAR.join(tables[2:])
                if " 0.000 million" not in tables[1]:
                    return tables[1].split("\r\n")
            check(len(self.text) < 1 << 16 and self.receive(DEADLINE), f"no table: {self.text[:500]!r}")

    def close(self):
        self.goes_on = False
        self.sender.join(DEADLINE)
        while self.receive(DEADLINE):
            self.text = ""
        os.close(self.end)
        return self.process.wait(DEADLINE), self.process.stderr.read().decode()


@case("the hottest function, contexts and interrupts, in each window")
def top():
    elf = write("alpha", tiny.elf(base=0x1000, symbols=(("alpha", 0x100, 0x16),)))
    terminal = Terminal("-e", elf, "--no-timestamps", "--interval", "100")
    try:
        for lines, contexts in (40, 9), (10, 1), (100, 20), (4, 0), (24, 5):
            terminal.resize(lines, 80)
            for _ in range(3):  # those that were made before
                shown = terminal.table()
            text = "\n".join(shown)
            equal(shown[-1], "\x1b[?7h", "the end of a table")
            check(len(shown) <= lines, f"{len(shown)} lines in a window of {lines}: {text}")
            matches(r"(?m)^[0-9.]+ s: .* million instructions, .* 0 gaps", text, "the first line")
            matches(r"(?m)^100\.00 %  alpha$", text, "functions")
            found = [int(one, 16) for one in re.findall(r"(?m)%  source 0, context 0x([0-9a-f]+)$", text)]
            equal(found, list(range(CONTEXTS, CONTEXTS - contexts, -1)), f"contexts: {text}")
            traps = re.findall(r"(?m)^ *\d+    (exception|interrupt) to alpha$", text)
            equal(traps, ["exception", "interrupt"][:contexts], f"traps: {text}")
    finally:
        status, errors = terminal.close()
    equal(status, 0, f"exit status: {errors}")


main()
