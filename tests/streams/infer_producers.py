#!/usr/bin/env python3
"""What inference says of streams that writers independent of the project make: a "sure" value is never wrong, and what a command assumes
without options hides no error of a damaged stream. TAP.

usage: infer_producers.py NTRACE [SEEDS [FIRST]]
"""
import os
import random
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
import harness
from cedar_writer import CedarEncoder
from harness import case, check, main, scratch
from nexus_writer import BASE, BTM, HTM, Code, Encoder, mixed

SEEDS = int(sys.argv[2]) if len(sys.argv) > 2 else 30
FIRST = int(sys.argv[3]) if len(sys.argv) > 3 else 1
SURE = re.compile(r": auto: (\S+) (\S+), sure: ")
ALWAYS = {"implicit-return": "off", "sequential-jump": "off", "extend-addr": "off", "all-jumps": "off", "addr-bits": "0"}


def ntrace(*options):
    path, code = os.path.join(scratch(), "stream"), os.path.join(scratch(), "code")
    return subprocess.run([harness.NTRACE, "decode", path, "--raw", f"{code}@{BASE:#x}", "--show", "count", *options], capture_output=True,
                          text=True, timeout=60)


def write(name, data):
    with open(os.path.join(scratch(), name), "wb") as file:
        file.write(data)


def damaged(r, stream):
    data = bytearray(stream)
    for _ in range(r.choice([1, 1, 2, 5])):
        data[r.randrange(len(data))] ^= 1 << r.randrange(8)
    return bytes(data)


def shows_error(run):
    return run.returncode != 0 or "notes 0" not in re.sub(r" +", " ", run.stdout)


def wrong_of(truth):
    return [f"{name} {value}" for name, value in SURE.findall(ntrace("--auto", "-v").stderr) if name in truth and value != truth[name]]


def plain(r, src):
    """An encoder of N-Trace 1.0, and what its streams show."""
    encoder = Encoder(r, src=src[0], src_bits=src[1], mode=r.choice([BTM, HTM]), rule=r.choice([None, "difference"]),
                      padded=r.choice([0, 0.3]), contexts=r.random() < 0.5)
    return encoder, {"dialect": "ntrace-1.0", "full-addr": "off"}, ()


def full(r, src):
    """Full addresses, as Andes has them."""
    encoder = Encoder(r, src=src[0], src_bits=src[1], mode=r.choice([BTM, HTM]), full=1)
    return encoder, {"full-addr": "on"}, ("--full-addr",)


def timed(r, src):
    """Times as XuanTie and SiFive have them."""
    rule = r.choice(["xor", "absolute"])
    return Encoder(r, src=src[0], src_bits=src[1], mode=r.choice([BTM, HTM]), rule=rule), {"full-addr": "off"}, ("--ts-rule", rule)


def cedar(r, src):
    encoder = CedarEncoder(r, src=src[0], src_bits=min(src[1], 4), mode=r.choice([BTM, HTM]), wide=r.random() < 0.5)
    return encoder, {"dialect": "ctte", "full-addr": "off"}, ("--dialect", "ctte")


def judge(make, damage, tally):
    for seed in range(FIRST, FIRST + SEEDS):
        r = random.Random(seed)
        code = Code(r)
        bits = r.choice([0, 0, 1, 2, 4, 6, 12])
        encoder, truth, options = make(r, (r.randrange(1 << min(bits, 4)), bits))
        encoder.run(code, r.choice([5, 20, 60, 400, 2000]))
        truth = {**ALWAYS, **truth, "src-bits": str(encoder.src_bits)}
        stream, _ = mixed(r, [encoder])
        write("code", code.bytes())
        write("stream", damaged(r, stream) if damage else stream)
        found = wrong_of(truth)
        check(not found, f"seed {seed}: sure, and wrong: {found} (right: {truth})")
        if damage and shows_error(ntrace("--src-bits", str(encoder.src_bits), *options)):
            tally.append(not shows_error(ntrace()))
            if tally[-1]:
                harness.note(f"seed {seed}: the error is hidden")


for producer in (plain, full, timed, cedar):
    def whole(producer=producer):
        judge(producer, False, [])

    def broken(producer=producer):
        tally = []
        judge(producer, True, tally)
        check(len(tally) > SEEDS // 4, f"{len(tally)} streams show an error")
        check(200 * sum(tally) <= len(tally) + 199, f"{sum(tally)} of {len(tally)} errors are hidden")
    case(f"{producer.__name__}: no sure value is wrong")(whole)
    case(f"{producer.__name__}, damaged: no sure value is wrong, errors stay")(broken)
main()
