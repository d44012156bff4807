#!/usr/bin/env python3
"""Every stream of the corpus decodes to exactly its list of program counters.

usage: corpus.py LIST_PCS refcode|silicon
Reference streams: all five settings. Silicon: the published list, which for the Linux system must be a
subsequence (other processes run on the same hart) with no gap but those that lack an image.
"""
import os
import subprocess
import sys

TOOL, PART = sys.argv[1:3]
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CORPUS = os.path.join(os.environ.get("NTRACE_SHARED", os.path.join(ROOT, "..", "shared")), "corpus", PART)

NO_RETURNS, FULL_RETURNS = "0", "3"
SETTINGS = {"btm": NO_RETURNS, "htm": NO_RETURNS, "htm-repeat": NO_RETURNS, "htm-stack": FULL_RETURNS,
            "htm-stack-repeat": FULL_RETURNS}
SILICON_OPTIONS = {"dv-650": ["-s", "4"]}
FAILED = 2  # 1 is a gap or a note
EVENT_TRACES = ("event-call", "pc-sample-itc")


def unpacked(path):
    return subprocess.run(["zstd", "-dcq", path], stdout=subprocess.PIPE, check=True).stdout


def decode(options, trace, elf, stdin=None):
    return subprocess.run([TOOL, "-v", *options, trace, elf], input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def refcode():
    for program in sorted(os.listdir(CORPUS)):
        folder = os.path.join(CORPUS, program)
        if not os.path.isdir(folder):
            continue
        want = unpacked(os.path.join(folder, "pc.txt.zst"))
        for setting, returns in SETTINGS.items():
            stream = unpacked(os.path.join(folder, setting + ".nex.zst"))
            got = decode(["-d", "refcode", "-r", returns], "-", os.path.join(folder, "program.elf"), stream)
            yield f"{program} {setting}", got.stdout == want and got.returncode == 0, got.stderr


def silicon():
    for capture in sorted(os.listdir(CORPUS)):
        folder = os.path.join(CORPUS, capture)
        if capture == "linux-static":
            continue
        want = unpacked(os.path.join(folder, "src0.pc.zst"))
        options = ["-d", "sifive-pre1.0"] + SILICON_OPTIONS.get(capture, [])
        if capture in EVENT_TRACES:
            options.append("-t")
        got = decode(options, os.path.join(folder, "trace.rtd"), os.path.join(folder, "program.elf"))
        yield capture, got.stdout == want and got.returncode != FAILED, got.stderr
    yield from linux()


def is_subsequence(want, got):
    rest = iter(got)
    return all(line in rest for line in want)


def linux():
    folder = os.path.join(CORPUS, "linux-static")
    process = "738"
    for line in open(os.path.join(folder, "proc-maps.txt"), encoding="ascii"):
        if "[vdso]" in line:
            vdso = line.split("-")[0]
    images = [f"program.elf,{process}", f"vdso.elf@0x{vdso},{process}", "kernel.elf"]
    got = subprocess.run([TOOL, "-v", "-d", "p550", "-r", NO_RETURNS, "-i", "1", os.path.join(folder, "trace.rtd")] +
                         [os.path.join(folder, image) for image in images], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    want = unpacked(os.path.join(folder, "src1.pc.zst")).split()
    yield "linux-static list", is_subsequence(want, got.stdout.split()) and got.returncode != FAILED, got.stderr
    other = [line for line in got.stderr.splitlines() if b"NTR_E_NO_IMAGE" not in line]
    yield "linux-static gaps all lack an image", not other, b"\n".join(other)


def main():
    if not os.path.isdir(CORPUS):
        print(f"1..1\nok 1 # SKIP no {CORPUS}")
        return 0
    failed = number = 0
    for name, good, said in {"refcode": refcode, "silicon": silicon}[PART]():
        number += 1
        failed += not good
        print(f"{'ok' if good else 'not ok'} {number} - {name}")
        if not good:
            print("".join(f"# {line}\n" for line in said.decode().splitlines()[:5]), end="")
    print(f"1..{number}")
    return failed != 0


sys.exit(main())
