#!/usr/bin/env python3
"""Executions of real programs compared with the library's classification of their code: follow.py FOLLOW

Every program counter of the reference streams and of the silicon captures has an instruction, and the next one
is where that instruction can lead. coremark takes one trap. TAP on standard output."""
import glob
import os
import re
import shutil
import subprocess
import sys

TRAPS = {"coremark": 1}
# Addresses of events and samples, not executions; a system of which only parts have an image.
LEFT_OUT = {"event-call", "pc-sample-itc", "linux-static"}


def lists():
    root = os.environ.get("NTRACE_SHARED") or os.path.join(os.path.dirname(__file__), "../../../shared")
    for path in sorted(glob.glob(os.path.join(root, "corpus/refcode/*/pc.txt.zst")) +
                       glob.glob(os.path.join(root, "corpus/silicon/*/src*.pc.zst"))):
        name = os.path.basename(os.path.dirname(path))
        if name not in LEFT_OUT:
            yield name, path


def main():
    found = list(lists())
    if not found or not shutil.which("zstd"):
        print("1..1\nok 1 - executions # SKIP no ../shared/corpus or no zstd")
        return
    print(f"1..{len(found)}")
    for name, path in found:
        with subprocess.Popen(["zstd", "-dc", path], stdout=subprocess.PIPE) as source:
            elf = os.path.join(os.path.dirname(path), "program.elf")
            output = subprocess.run([sys.argv[1], elf], stdin=source.stdout, capture_output=True, text=True).stdout
        output = output.strip()
        counts = re.fullmatch(r"instructions (\d+) traps (\d+)", output)
        good = counts and int(counts[1]) > 0 and int(counts[2]) == TRAPS.get(name, 0)
        print(f"{'ok' if good else 'not ok'} - {name}: {output}")


main()
