#!/usr/bin/env python3
"""What the library infers of every stream of the corpus is right, or of no consequence.

usage: infer_corpus.py INFER_PARAMS
"""
import os
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import corpus_cases, equal, main, need

TOOL = sys.argv[1]

REFERENCE = {"src-bits": "0", "timestamps": "off", "extend-addr": "off", "all-jumps": "off"}
SETTINGS = {
    "btm": {"implicit-return": "off", "mode": "btm"},
    "htm": {"implicit-return": "off", "mode": "htm"},
    "htm-repeat": {"implicit-return": "off", "mode": "htm"},
    "htm-stack": {"implicit-return": "full", "mode": "htm"},
    "htm-stack-repeat": {"implicit-return": "full", "mode": "htm"},
}
# The dialect of a reference stream is refcode only where that makes a difference.
OLDER = {"dialect": "sifive-pre1.0", "src-bits": "0", "timestamps": "off"}
COUNTS = {"implicit-return": "count"}
# 4, 2 and 64 messages are too few to leave the defaults.
FEW = {"dialect": "ntrace-1.0", "src-bits": "0"}
SILICON = {
    "dv-650": FEW,
    "dv-850": {**FEW, "timestamps": "on"},
    "dv-uaddr1": {**OLDER, **COUNTS},
    "e31_coremark_release": {**OLDER, **COUNTS},
    "e31_hello_debug": {**OLDER, **COUNTS},
    "eol": FEW,
    "event-call": OLDER,
    "itc_printf": {**OLDER, **COUNTS},
    "linux-static": {"dialect": "p550", "src-bits": "2", "timestamps": "off", "implicit-return": "off"},
    "pc-sample-itc": OLDER,
    "timestamp": {**OLDER, **COUNTS, "timestamps": "on"},
}


def infer(arguments, stdin=None):
    said = subprocess.run([TOOL, *arguments], input=stdin, stdout=subprocess.PIPE, check=True).stdout.decode()
    return {line.split(":")[0]: line.split(": ", 1)[1] for line in said.splitlines()}


def same(got, want):
    equal({name: got.get(name, "").split(",")[0] for name in want}, want, "inferred")


def reference(folder, setting, want):
    stream = subprocess.run([need("zstd"), "-dcq", os.path.join(folder, setting + ".nex.zst")], stdout=subprocess.PIPE, check=True).stdout
    same(infer(["-", os.path.join(folder, "program.elf")], stream), {**REFERENCE, **want})


def silicon(folder, want):
    images = [os.path.join(folder, name) for name in ("program.elf", "kernel.elf")]
    same(infer([os.path.join(folder, "trace.rtd"), *filter(os.path.exists, images)]), want)


def cases(corpus):
    for program in sorted(os.listdir(os.path.join(corpus, "refcode"))):
        folder = os.path.join(corpus, "refcode", program)
        for setting, want in SETTINGS.items() if os.path.isdir(folder) else ():
            yield f"{program} {setting}", reference, folder, setting, want
    for capture, want in SILICON.items():
        yield capture, silicon, os.path.join(corpus, "silicon", capture), want


corpus_cases("", 66, cases, long=lambda name: name.startswith(("coremark ", "embench-crc32 ")))
main()
