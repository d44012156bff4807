#!/usr/bin/env python3
"""What the library infers of every stream of the corpus is right, or of no consequence.

usage: infer_corpus.py INFER_PARAMS
"""
import os
import subprocess
import sys

TOOL = sys.argv[1]
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CORPUS = os.path.join(os.environ.get("NTRACE_SHARED", os.path.join(ROOT, "..", "shared")), "corpus")

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
SILICON = {
    "dv-650": {**OLDER, "src-bits": "4", "timestamps": "on"},
    "dv-850": {**OLDER, "timestamps": "on"},
    "dv-uaddr1": {**OLDER, **COUNTS},
    "e31_coremark_release": {**OLDER, **COUNTS},
    "e31_hello_debug": {**OLDER, **COUNTS},
    "eol": {**OLDER, **COUNTS},
    "event-call": OLDER,
    "itc_printf": {**OLDER, **COUNTS},
    "linux-static": {"dialect": "p550", "src-bits": "2", "timestamps": "off", "implicit-return": "off"},
    "pc-sample-itc": OLDER,
    "timestamp": {**OLDER, **COUNTS, "timestamps": "on"},
}


def infer(arguments, stdin=None):
    said = subprocess.run([TOOL, *arguments], input=stdin, stdout=subprocess.PIPE, check=True).stdout.decode()
    return {line.split(":")[0]: line.split(": ", 1)[1] for line in said.splitlines()}


def compare(got, want):
    return [f"{name}: {got.get(name)}; should be {value}" for name, value in want.items()
            if got.get(name, "").split(",")[0] != value]


def refcode():
    top = os.path.join(CORPUS, "refcode")
    for program in sorted(os.listdir(top)):
        folder = os.path.join(top, program)
        if not os.path.isdir(folder):
            continue
        for setting, want in SETTINGS.items():
            stream = subprocess.run(["zstd", "-dcq", os.path.join(folder, setting + ".nex.zst")], stdout=subprocess.PIPE,
                                    check=True).stdout
            got = infer(["-", os.path.join(folder, "program.elf")], stream)
            yield f"{program} {setting}", compare(got, {**REFERENCE, **want})


def silicon():
    for capture, want in SILICON.items():
        folder = os.path.join(CORPUS, "silicon", capture)
        images = [os.path.join(folder, name) for name in ("program.elf", "kernel.elf")]
        got = infer([os.path.join(folder, "trace.rtd"), *filter(os.path.exists, images)])
        yield capture, compare(got, want)


def main():
    if not os.path.isdir(CORPUS):
        print(f"1..1\nok 1 # SKIP no {CORPUS}")
        return 0
    failed = number = 0
    for part in (refcode, silicon):
        for name, wrong in part():
            number += 1
            failed += bool(wrong)
            print(f"{'not ok' if wrong else 'ok'} {number} - {name}")
            for line in wrong:
                print(f"# {line}")
    print(f"1..{number}")
    return failed != 0


sys.exit(main())
