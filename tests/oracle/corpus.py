#!/usr/bin/env python3
"""The oracle decodes every reference stream and silicon capture to its program counters.   corpus.py ORACLE"""
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SHARED = os.environ.get("NTRACE_SHARED", os.path.join(ROOT, "..", "shared"))
CAPTURES = {"dv-650": ["-s", "4"], "dv-850": [], "dv-uaddr1": [], "e31_coremark_release": [], "e31_hello_debug": [], "eol": [],
            "itc_printf": [], "timestamp": []}
SETTINGS = {"btm": [], "htm": [], "htm-repeat": [], "htm-stack": ["-r", "3"], "htm-stack-repeat": ["-r", "3"]}


def same(stream, pcs, *oracle):
    """Compare the oracle's program counters with a list, without loading either into memory."""
    command = 'cmp <(zstd -dcfq "$1" | "${@:3}") <(zstd -dc "$2")'
    done = subprocess.run(["bash", "-c", command, "bash", stream, pcs, *oracle], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True)
    return done.returncode == 0, done.stdout


def cases(oracle, top):
    refcode, silicon = os.path.join(top, "refcode"), os.path.join(top, "silicon")
    for program in sorted(os.listdir(refcode)):
        folder = os.path.join(refcode, program)
        for setting, options in SETTINGS.items() if os.path.isdir(folder) else ():
            yield f"{program} {setting}", (f"{folder}/{setting}.nex.zst", f"{folder}/pc.txt.zst", oracle, "-d", "refcode", *options,
                                           f"{folder}/program.elf")
    for capture, options in CAPTURES.items():
        folder = os.path.join(silicon, capture)
        yield capture, (f"{folder}/trace.rtd", f"{folder}/src0.pc.zst", oracle, "-d", "sifive-pre1.0", *options,
                        f"{folder}/program.elf")


def main():
    top = os.path.join(SHARED, "corpus")
    if not os.path.isdir(top):
        print("1..1\nok 1 # SKIP ../shared is missing")
        return
    failed, found = 0, list(cases(sys.argv[1], top))
    print(f"1..{len(found)}")
    for number, (name, arguments) in enumerate(found, 1):
        good, text = same(*arguments)
        failed += not good
        print(f"{'ok' if good else 'not ok'} {number} {name}")
        if not good:
            print("# " + text.replace("\n", "\n# "))
    sys.exit(1 if failed else 0)


main()
