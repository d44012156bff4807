#!/usr/bin/env python3
"""The short streams of real programs (bench/real_streams): the library's decoder and the oracle decoder give the same program
counters, as many as were recorded.

usage: streams.py NTRACE ORACLE
"""
import hashlib
import json
import os
import re
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import NTRACE, ROOT, case, equal, folder, main, need

ORACLE_PROGRAM = os.path.abspath(sys.argv[2])
STREAMS = os.path.join(ROOT, "bench", "real_streams")
LEADING = re.compile(rb"0x0+")
MODES = {"off": 0, "count": 1, "partial": 2, "full": 3}
ORACLE = {"--src-bits": "-s", "--implicit-return": "-r", "--return-stack": "-k", "--src": "-i", "--sequential-jump": "-q", "--extend-addr": "-x"}


def addresses(command, stream):
    """Number and hash of the lines, without leading zeros: the two programs write them with different widths."""
    count, digest, rest = 0, hashlib.sha256(), b""
    with open(stream, "rb") as file, subprocess.Popen(command, stdin=file, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        for part in iter(lambda: process.stdout.read(1 << 20), b""):
            lines, feed, rest = (rest + part).rpartition(b"\n")
            digest.update(LEADING.sub(b"0x", lines) + feed)
            count += lines.count(b"\n") + len(feed)
    digest.update(rest)
    return count, digest.hexdigest()


def same(name, stream):
    elf, nex = (os.path.join(folder(), f"{name}.{kind}") for kind in ("elf", "nex"))
    for path in elf, nex:
        subprocess.run([need("zstd"), "-dq", os.path.join(STREAMS, os.path.basename(path) + ".zst"), "-o", path], check=True)
    found = addresses([NTRACE, "decode", "--show", "pc", "-e", elf, *stream["options"], nex], os.devnull)
    options = [ORACLE.get(word, str(MODES.get(word, word))) for word in stream["options"]]
    equal(found, addresses([ORACLE_PROGRAM, *options, elf], nex), "number and hash of the oracle's program counters")
    equal(found[0], stream["instructions"], "instructions that were recorded")


with open(os.path.join(STREAMS, "streams.json"), encoding="ascii") as each_file:
    for each_name, each_stream in json.load(each_file).items():
        case(each_name, each_name, each_stream, long=each_name in ("ripgrep", "zstd"))(same)
main()
