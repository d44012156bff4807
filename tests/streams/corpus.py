#!/usr/bin/env python3
"""Every stream of the corpus decodes to exactly its list of program counters.

usage: corpus.py LIST_PCS refcode|silicon
Reference streams: all five settings. Silicon: the published list, which for the Linux system must be a
subsequence (other processes run on the same hart) with no gap but those that lack an image.
"""
import os
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import check, corpus_cases, main, need

TOOL, PART = sys.argv[1:3]

NO_RETURNS, FULL_RETURNS = "0", "3"
SETTINGS = {"btm": NO_RETURNS, "htm": NO_RETURNS, "htm-repeat": NO_RETURNS, "htm-stack": FULL_RETURNS,
            "htm-stack-repeat": FULL_RETURNS}
SILICON_OPTIONS = {"dv-650": ["-s", "4"]}
FAILED = 2  # 1 is a gap or a note
EVENT_TRACES = ("event-call", "pc-sample-itc")


def unpacked(path):
    return subprocess.run([need("zstd"), "-dcq", path], stdout=subprocess.PIPE, check=True).stdout


def decode(options, trace, elf, stdin=None):
    return subprocess.run([TOOL, "-v", *options, trace, elf], input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def reference(folder, setting, returns):
    want = unpacked(os.path.join(folder, "pc.txt.zst"))
    stream = unpacked(os.path.join(folder, setting + ".nex.zst"))
    got = decode(["-d", "refcode", "-r", returns], "-", os.path.join(folder, "program.elf"), stream)
    check(want and got.stdout == want and got.returncode == 0, got.stderr.decode())


def refcode(corpus):
    for program in sorted(os.listdir(corpus)):
        folder = os.path.join(corpus, program)
        for setting, returns in SETTINGS.items() if os.path.isdir(folder) else ():
            yield f"{program} {setting}", reference, folder, setting, returns


def published(folder, capture):
    want = unpacked(os.path.join(folder, "src0.pc.zst"))
    options = ["-d", "sifive-pre1.0"] + SILICON_OPTIONS.get(capture, []) + ["-t"] * (capture in EVENT_TRACES)
    got = decode(options, os.path.join(folder, "trace.rtd"), os.path.join(folder, "program.elf"))
    check(want and got.stdout == want and got.returncode != FAILED, got.stderr.decode())


def silicon(corpus):
    for capture in sorted(os.listdir(corpus)):
        if capture != "linux-static":
            yield capture, published, os.path.join(corpus, capture), capture
    yield "linux-static: the list, and gaps that all lack an image", linux, os.path.join(corpus, "linux-static")


def is_subsequence(want, got):
    rest = iter(got)
    return all(line in rest for line in want)


def linux(folder):
    process = "738"
    with open(os.path.join(folder, "proc-maps.txt"), encoding="ascii") as file:
        vdso = next(line.split("-")[0] for line in file if "[vdso]" in line)
    images = [f"program.elf,{process}", f"vdso.elf@0x{vdso},{process}", "kernel.elf"]
    got = subprocess.run([TOOL, "-v", "-d", "p550", "-r", NO_RETURNS, "-i", "1", os.path.join(folder, "trace.rtd")] +
                         [os.path.join(folder, image) for image in images], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    want = unpacked(os.path.join(folder, "src1.pc.zst")).split()
    check(want and is_subsequence(want, got.stdout.split()) and got.returncode != FAILED, got.stderr.decode())
    other = [line for line in got.stderr.splitlines() if b"NTR_E_NO_IMAGE" not in line]
    check(not other, b"\n".join(other).decode())


corpus_cases(PART, {"refcode": 55, "silicon": 11}[PART], {"refcode": refcode, "silicon": silicon}[PART],
             long=lambda name: name.startswith(("coremark ", "embench-crc32 ", "embench-statemate ")))
main()
