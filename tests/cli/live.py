#!/usr/bin/env python3
"""A live stream is followed without loss in constant memory: in a file that grows, over a pipe and over TCP.

live.py NTRACE [MIB [MB_PER_SECOND]]: length of the stream (default 24), and the rate at which it is sent (default 50). The rate at which it was
read is shown, and the processor time of the reader; what this machine can do is no failure.
"""
import ctypes
import os
import re
import resource
import socket
import subprocess
import sys
import threading
import time

sys.path.append(os.path.join(sys.path[0], ".."))
from boards import program
from harness import DEADLINE, NTRACE, Run, case, check, equal, main, scratch, until, write

MIB, RATE = (int(word) for word in (sys.argv[2:4] + ["24", "50"][len(sys.argv[2:4]):]))
PART = 1 << 16


def stream():
    """About 1 MiB that can be repeated, and how many instructions it has."""
    elf, _pc, pcs = program()
    times = 40
    pc = write("long.pc", "".join(f"{pc:#x}\n" for pc in pcs).encode() * times)
    path = os.path.join(scratch(), "part.nex")
    Run("encode", "--elf", elf, "--pc", pc, "--mode", "btm", "-o", path, status=None)
    with open(path, "rb") as file:
        data = file.read()
    count = int(re.search(r"(?m)^instructions (\d+)", Run("decode", path, "-e", elf, "--show", "count").out)[1])
    repeats = max(1, (1 << 20) // len(data))
    return elf, data * repeats, count * repeats


class Memory(threading.Thread):
    """The memory of a process over time."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.seen = pid, []
        self.start()

    def run(self):
        while True:
            try:
                with open(f"/proc/{self.pid}/status", encoding="ascii") as file:
                    self.seen.append(int(re.search(r"VmRSS:\s+(\d+)", file.read())[1]))
            except (OSError, TypeError):
                return
            time.sleep(0.1)


class Shown:
    """What the command shows, which should be so many million instructions in the end."""

    def __init__(self, live, expected):
        self.expected, self.parts = expected, ([], [])
        self.readers = [threading.Thread(target=self.read, args=pair) for pair in zip((live.stdout, live.stderr), self.parts)]
        for reader in self.readers:
            reader.start()

    @staticmethod
    def read(file, parts):
        for part in iter(lambda: file.read1(1 << 16), b""):
            parts.append(part)

    def text(self):
        return max((b"".join(parts).decode(errors="replace") for parts in self.parts), key=len)

    def found(self):
        return sum(float(one) for one in re.findall(r"([0-9.]+) million instructions", self.text()))

    def all(self):
        """Each table rounds its number."""
        return abs(self.found() - self.expected) < 0.002 * (self.text().count("million") + 1)

    def wait(self):
        until(self.all, lambda: f"{self.expected} million instructions, not {self.found()},")

    def end(self):
        for reader in self.readers:
            reader.join()
        return self.text()


def send(write_bytes, data, times):
    """Returns the seconds."""
    begun, sent = time.monotonic(), 0
    for _ in range(times):
        for at in range(0, len(data), PART):
            write_bytes(data[at:at + PART])
            sent += len(data[at:at + PART])
            early = sent / (RATE * 1e6) - (time.monotonic() - begun)
            if early > 0.002:
                time.sleep(early)
    return time.monotonic() - begun


def follow(place, give, ends, *options):
    elf, data, count = stream()
    times = max(1, (MIB << 20) // len(data))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    live = subprocess.Popen([NTRACE, "top", place(), "-e", elf, "--no-timestamps", "--interval", "1000", *options], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    memory, shown = Memory(live.pid), Shown(live, times * count / 1e6)
    seconds = give(live, data, times, shown)
    if ends:
        live.stdin.close()
    else:
        shown.wait()
        live.terminate()
    live.wait(DEADLINE)
    text = shown.end()
    check(shown.all(), f"{shown.found()} million instructions, expected {shown.expected}")
    equal(re.findall(r"\((\d+) in all\)", text)[-1], "0", "gaps")
    early, late = max(memory.seen[:max(3, len(memory.seen) // 10)]), max(memory.seen)
    after, size = resource.getrusage(resource.RUSAGE_CHILDREN), times * len(data) / 1e6
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"# {size:.0f} MB, {size / seconds:.1f} MB/s, {1000 * used / size:.2f} ms of processor for each MB, {late} KiB (first tenth {early} KiB)")
    check(late < early * 1.1 + 1024, f"memory grows: {early} KiB, then {late} KiB")


class Growing:
    """A file that grows. What the reader has passed is given back to the file system, so that a long stream needs no disk."""

    PUNCH, BEHIND = 3, 256 << 20  # FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE; bytes that stay

    def __init__(self):
        self.path, self.freed = os.path.join(scratch(), "growing.nex"), 0
        self.file = open(self.path, "wb", buffering=0)
        self.libc = ctypes.CDLL(None, use_errno=True)

    def read_up_to(self, pid):
        """Where the process reads the file."""
        for name in os.listdir(f"/proc/{pid}/fd"):
            if os.readlink(f"/proc/{pid}/fd/{name}") == self.path:
                with open(f"/proc/{pid}/fdinfo/{name}", encoding="ascii") as file:
                    return int(re.search(r"pos:\s+(\d+)", file.read())[1])
        return 0

    def give(self, live, data, times, _shown):
        def write_part(part):
            self.file.write(part)
            if self.file.tell() - self.freed < 2 * self.BEHIND:
                return
            passed = min(self.read_up_to(live.pid), self.file.tell() - self.BEHIND) & -4096
            if passed > self.freed:
                self.libc.fallocate(self.file.fileno(), self.PUNCH, ctypes.c_long(self.freed), ctypes.c_long(passed - self.freed))
                self.freed = passed
        begun = time.monotonic()
        send(write_part, data, times)
        until(lambda: live.poll() is not None or self.read_up_to(live.pid) >= self.file.tell(), "that all is read", 3600)
        self.file.close()
        return time.monotonic() - begun


@case("a file that grows")
def _():
    growing = Growing()
    follow(lambda: growing.path, growing.give, False, "--follow")
    os.unlink(growing.path)


@case("a pipe")
def _():
    follow(lambda: "-", lambda live, data, times, _shown: send(live.stdin.write, data, times), True)


@case("a TCP stream")
def _():
    with socket.create_server(("127.0.0.1", 0)) as server:
        def give(_live, data, times, shown):
            with server.accept()[0] as one:
                seconds = send(one.sendall, data, times)
                shown.wait()  # what ends the connection is not part of this test
                return seconds
        follow(lambda: f"tcp:127.0.0.1:{server.getsockname()[1]}", give, False)


main()
