#!/usr/bin/env python3
"""Memory does not grow with the trace: a long one needs as much as a short one, within 10 %.

memory.py NTRACE PEAK [SHORT LONG]: PEAK is peak.c; sizes in MiB, default 4 and 16.
"""
import os
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
import tiny
from harness import NTRACE, bytes_of, case, check, main, scratch, write

PEAK = os.path.abspath(sys.argv[2])
SHORT, LONG = (int(size) for size in (sys.argv[3:5] or ("4", "16")))
BOTH = bytes_of(tiny.BTM + tiny.HTM + tiny.TURNS + tiny.HTM)


def traces():
    """The same runs, repeated."""
    for name, size in (("short.nex", SHORT), ("long.nex", LONG)):
        path = os.path.join(scratch(), name)
        if not os.path.exists(path):
            block = BOTH * (2 ** 20 // len(BOTH))
            with open(path, "wb") as file:
                for _ in range(size):
                    file.write(block)
        yield path


def peak(*command):
    """KiB, from the system's accounting."""
    path = os.path.join(scratch(), "peak")
    done = subprocess.run([PEAK, path, NTRACE, *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    check(done.returncode in (0, 1), f"{command}: {done.returncode}")
    with open(path, encoding="ascii") as file:
        return int(file.read())


COMMANDS = {
    "dump": [], "stat": [], "check": ["--max=1", "-e"], "decode --jobs=1": ["-e"], "decode --show=count --jobs=1": ["-e"],
    "decode --show=none --jobs=1": ["-e"],
    "profile --jobs=1": ["-e"], "coverage --jobs=1": ["-e"], "flame --jobs=1": ["-e"], "timeline --jobs=1": ["-e"],
}


@case("--jobs=2 keeps output only up to its limit")
def threads():
    program = write("program.elf", tiny.elf())
    for path in traces():
        for command in ("decode", "coverage", "flame"):
            used = peak(command, "--jobs=2", path, "-e", program)
            check(used < 400 << 10, f"{command} {path}: {used} KiB")


def add(name, options):
    @case(name)
    def one():
        program = [write("program.elf", tiny.elf())] if "-e" in options else []
        for _ in range(3):  # the peak differs by a few pages between runs
            short, long = (peak(*name.split(), path, *options, *program) for path in traces())
            if long <= short * 1.1:
                break
        check(long <= short * 1.1, f"{SHORT} MiB: {short} KiB, {LONG} MiB: {long} KiB")


for command in COMMANDS.items():
    add(*command)
main()
