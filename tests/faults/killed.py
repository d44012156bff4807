#!/usr/bin/env python3
"""`ntrace run` is killed (SIGKILL) while it writes, also while it writes the stream anew: what is left can be decoded.

usage: killed.py NTRACE INJECTOR [every]     every: at each call, not at a fifth of them. TAP on standard output
"""
import glob
import os
import re
import shutil
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import NTRACE, case, check, equal, main, scratch

HERE = os.path.dirname(os.path.abspath(__file__))
INJECTOR = shutil.copy(sys.argv[2], scratch())  # LD_PRELOAD ends a name at a blank
COMPILER = "riscv64-linux-gnu-gcc"
STEP = 1 if sys.argv[3:] else 5  # one in so many calls


def record(faults):
    """Exit status, and the number of calls at which the command can be killed."""
    counts = os.path.join(scratch(), "counts")
    env = dict(os.environ, LD_PRELOAD=INJECTOR, FAULTS=faults, FAULTS_COUNT=counts)
    done = subprocess.run([NTRACE, "run", "-o", "late.ntrace", "--", "./late"], cwd=scratch(), env=env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120, check=False)
    if done.returncode < 0:
        return done.returncode, None
    with open(counts, encoding="ascii") as file:
        return done.returncode, int(file.read().split()[3])


def decoded(folder):
    """Instructions, and whether the bundle is complete. The whole stream must be readable; of a compressed one, the end may be
    missing, which is a gap of each thread. The status is 1 exactly if the bundle is not complete, which is said."""
    done = subprocess.run([NTRACE, "decode", "--show", "count", folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    found = dict(re.findall(r"(\w+) (\d+)", done.stdout))
    complete = done.returncode == 0
    check(done.returncode in (0, 1) and complete != ("did not complete it" in done.stderr), f"status {done.returncode}: {done.stderr}")
    cut = "expected the rest of a zstd frame, found the end of the file" in done.stderr
    check(int(found["gaps"]) <= 2 * cut, f"damage in {sorted(os.listdir(folder))}: {done.stderr}")
    return int(found["instructions"]), complete


@case("wherever `ntrace run` is killed: what is left can be decoded to its end")
def killed_anywhere():
    subprocess.run([COMPILER, "-O1", "-static", "-pthread", "-o", "late", os.path.join(HERE, "late.c")], cwd=scratch(), check=True)
    status, calls = record("count")
    equal(status, 0, "exit status")
    whole, complete = decoded(os.path.join(scratch(), "late.ntrace"))
    check(complete, "a run that was not killed is complete")
    shutil.rmtree(os.path.join(scratch(), "late.ntrace"))
    names, described, numbers = set(), 0, range(1, calls + 1, STEP)
    for number in numbers:
        record(f"kill:{number}")
        for folder in glob.glob(os.path.join(scratch(), "late.ntrace*")):
            names |= {name for name in os.listdir(folder) if name.startswith("trace")}
            if os.path.exists(os.path.join(folder, "capture.json")):
                described += 1
                count, complete = decoded(folder)
                check(whole * complete - 1000 <= count <= whole + 1000, f"{count} of {whole} instructions, complete: {complete}")
            shutil.rmtree(folder)
    check(described > len(numbers) / 2, f"{described} of {len(numbers)} have a capture.json")
    check({"trace.nex", "trace.nex.old", "trace.nex.zst"} <= names, f"files of streams: {names}")


@case("a program whose path has a line feed has its names")
def line_feed():
    folder = os.path.join(scratch(), "line\nfeed")
    os.makedirs(folder)
    subprocess.run([COMPILER, "-O1", "-static", "-pthread", "-o", os.path.join(folder, "late\\012x"), os.path.join(HERE, "late.c")], check=True)
    for name in "late\\012x", "la\nte":
        if "\n" in name:
            os.rename(os.path.join(folder, "late\\012x"), os.path.join(folder, name))
        bundle = os.path.join(scratch(), "feed.ntrace")
        shutil.rmtree(bundle, ignore_errors=True)
        done = subprocess.run([NTRACE, "run", "-q", "-o", bundle, "--", os.path.join(folder, name)], stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=120, check=False)
        check("could not be read" not in done.stderr, done.stderr)
        shown = subprocess.run([NTRACE, "profile", bundle], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False).stdout
        check(" main " in shown or "__tunables_init" in shown, f"{name!r}: {shown[:400]}")


main(COMPILER, "qemu-riscv64")
