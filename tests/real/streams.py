#!/usr/bin/env python3
"""The short streams of real programs (bench/real_streams): the library's decoder and the oracle decoder give the same program
counters, as many as were recorded. TAP on standard output.

usage: streams.py NTRACE ORACLE
"""
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

STREAMS = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "bench", "real_streams")
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


def main():
    ntrace, oracle = (os.path.abspath(path) for path in sys.argv[1:3])
    if not shutil.which("zstd"):
        print("1..0 # SKIP no zstd")
        return
    with open(os.path.join(STREAMS, "streams.json"), encoding="ascii") as file:
        streams = json.load(file)
    print(f"1..{len(streams)}")
    failed = 0
    for number, (name, stream) in enumerate(streams.items(), 1):
        with tempfile.TemporaryDirectory() as folder:
            elf, nex = (os.path.join(folder, kind) for kind in ("elf", "nex"))
            for path in elf, nex:
                subprocess.run(["zstd", "-dq", os.path.join(STREAMS, f"{name}.{os.path.basename(path)}.zst"), "-o", path], check=True)
            found = addresses([ntrace, "decode", "--output", "pc", "-e", elf, *stream["options"], nex], os.devnull)
            options = [ORACLE.get(word, str(MODES.get(word, word))) for word in stream["options"]]
            expected = addresses([oracle, *options, elf], nex)
        good = found == expected and found[0] == stream["instructions"]
        failed += not good
        print(f"{'ok' if good else 'not ok'} {number} - {name}: {found[0]} instructions", flush=True)
        if not good:
            print(f"# ntrace {found}, oracle {expected}, recorded {stream['instructions']}")
    sys.exit(failed > 0)


main()
