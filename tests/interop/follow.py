#!/usr/bin/env python3
"""Executions of real programs compared with the library's classification of their code: follow.py FOLLOW

Every program counter of the reference streams and of the silicon captures has an instruction, and the next one
is where that instruction can lead. coremark takes one trap. TAP on standard output."""
import glob
import os
import re
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import check, corpus_cases, equal, main, need

TRAPS = {"coremark": 1}
# Addresses of events and samples, not executions; a system of which only parts have an image.
LEFT_OUT = {"event-call", "pc-sample-itc", "linux-static"}


def follow(path, traps):
    with subprocess.Popen([need("zstd"), "-dc", path], stdout=subprocess.PIPE) as source:
        elf = os.path.join(os.path.dirname(path), "program.elf")
        done = subprocess.run([sys.argv[1], elf], stdin=source.stdout, capture_output=True, text=True)
    counts = re.fullmatch(r"instructions (\d+) traps (\d+)", done.stdout.strip())
    check(counts and int(counts[1]) > 0, f"status {done.returncode}: {done.stdout}{done.stderr}")
    equal(int(counts[2]), traps, "traps")


def cases(corpus):
    for path in sorted(glob.glob(os.path.join(corpus, "refcode/*/pc.txt.zst")) + glob.glob(os.path.join(corpus, "silicon/*/src*.pc.zst"))):
        name = os.path.basename(os.path.dirname(path))
        if name not in LEFT_OUT:
            yield f"{name} {os.path.basename(path)}", follow, path, TRAPS.get(name, 0)


corpus_cases("", 19, cases)
main()
