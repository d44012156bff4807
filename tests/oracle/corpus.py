#!/usr/bin/env python3
"""The oracle decodes every reference stream and silicon capture to its program counters.   corpus.py ORACLE"""
import os
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import check, corpus_cases, main, need

ORACLE = sys.argv[1]
CAPTURES = {"dv-650": ["-s", "4"], "dv-850": [], "dv-uaddr1": [], "e31_coremark_release": [], "e31_hello_debug": [], "eol": [],
            "itc_printf": [], "timestamp": []}
SETTINGS = {"btm": [], "htm": [], "htm-repeat": [], "htm-stack": ["-r", "3"], "htm-stack-repeat": ["-r", "3"]}


def same(stream, pcs, *options):
    """Compare the oracle's program counters with a list, without loading either into memory."""
    need("zstd")
    command = 'zstd -dcfq "$1" | { "${@:3}" || [ $? = 1 ]; } | cmp - <(zstd -dc "$2")'  # 1: a gap, as the captures have
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command, "bash", stream, pcs, ORACLE, *options], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    check(done.returncode == 0 and os.path.getsize(pcs) > 20, f"status {done.returncode}: {done.stdout}")


def cases(top):
    refcode, silicon = os.path.join(top, "refcode"), os.path.join(top, "silicon")
    for program in sorted(os.listdir(refcode)):
        folder = os.path.join(refcode, program)
        for setting, options in SETTINGS.items() if os.path.isdir(folder) else ():
            yield (f"{program} {setting}", same, f"{folder}/{setting}.nex.zst", f"{folder}/pc.txt.zst", "-d", "refcode", *options,
                   f"{folder}/program.elf")
    for capture, options in CAPTURES.items():
        folder = os.path.join(silicon, capture)
        yield capture, same, f"{folder}/trace.rtd", f"{folder}/src0.pc.zst", "-d", "sifive-pre1.0", *options, f"{folder}/program.elf"


# 300,000 instructions for each setting of coremark.
corpus_cases("", 63, cases, long=lambda name: name.startswith(("coremark ", "embench-crc32 ", "embench-nettle-sha256 h")))
main()
