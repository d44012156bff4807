#!/usr/bin/env python3
"""The oracle tells every reference stream's program counters, first to last.   corpus.py ORACLE"""
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SHARED = os.environ.get("NTRACE_SHARED", os.path.join(ROOT, "..", "shared"))
SETTINGS = {"btm": [], "htm": [], "htm-repeat": [], "htm-stack": ["-r", "3"], "htm-stack-repeat": ["-r", "3"]}


def same(oracle, options, folder, setting):
    """Compare what the oracle tells with pc.txt, without holding either in memory."""
    command = (f"cmp <(zstd -dc {folder}/{setting}.nex.zst | {oracle} -d refcode {' '.join(options)} {folder}/program.elf)"
               f" <(zstd -dc {folder}/pc.txt.zst)")
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode == 0, done.stdout


def main():
    oracle, top = sys.argv[1], os.path.join(SHARED, "corpus", "refcode")
    programs = sorted(n for n in os.listdir(top) if os.path.isdir(os.path.join(top, n))) if os.path.isdir(top) else []
    print(f"1..{len(programs) * len(SETTINGS) or 1}")
    if not programs:
        print("ok 1 # SKIP ../shared is missing")
    number = failed = 0
    for program in programs:
        for setting, options in SETTINGS.items():
            number += 1
            good, text = same(oracle, options, os.path.join(top, program), setting)
            failed += not good
            print(f"{'ok' if good else 'not ok'} {number} {program} {setting}")
            if not good:
                print("# " + text.replace("\n", "\n# "))
    sys.exit(1 if failed else 0)


main()
