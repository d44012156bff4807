#!/usr/bin/env python3
"""Streams and containers of producers, made from their layouts by a writer that shares nothing with the project (nexus_writer.py), decode to
what was executed: forms that are legal and rare, several sources, cut and wrapped buffers, losses. `check` finds no error in them. TAP.

usage: producers.py NTRACE [SEEDS [FIRST]]
"""
import json
import os
import random
import struct
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
import harness
from cedar_writer import CedarEncoder, with_earlier_session
from harness import case, check, equal, scratch
from nexus_writer import BASE, BTM, HTM, Code, Encoder, mixed

SEEDS = int(sys.argv[2]) if len(sys.argv) > 2 else 12
FIRST = int(sys.argv[3]) if len(sys.argv) > 3 else 1
FILL, CUT_MOST = b"\xff", 30


def ntrace(command, *options):
    return subprocess.run([harness.NTRACE, command, os.path.join(scratch(), "stream"), "--raw", f"{os.path.join(scratch(), 'code')}@{BASE:#x}",
                           *options], capture_output=True, text=True, timeout=60)


def write(code, stream):
    for name, data in (("code", code.bytes()), ("stream", stream)):
        with open(os.path.join(scratch(), name), "wb") as file:
            file.write(data)


def of_source(encoder):
    return ("--src", str(encoder.src)) if encoder.src_bits else ()


def executed(encoder, *options, status=(0,)):
    done = ntrace("decode", "--show", "pc", *of_source(encoder), *options)
    check(done.returncode in status, f"status {done.returncode}: {done.stderr[-300:]}")
    return [int(line, 16) for line in done.stdout.split()]


def events(encoder, *options):
    done = ntrace("decode", "--format", "jsonl", *of_source(encoder), *options)
    return [json.loads(line) for line in done.stdout.splitlines()]


def same(found, wanted, what):
    harness.same_items(found, wanted, f"{what}: item")


def no_errors(what):
    done = ntrace("check")
    check(done.returncode == 0, f"{what}: {done.stdout[-400:]}{done.stderr[-200:]}")


def each_seed(function):
    for seed in range(FIRST, FIRST + SEEDS):
        r = random.Random(seed)
        function(r, Code(r), f"seed {seed}")


def sources(r, code, make, src_bits, numbers):
    """Up to three encoders, or one without SRC, after a random execution each."""
    encoders = [make(src=number if src_bits else 0) for number in numbers[:r.choice([1, 2, 3]) if src_bits else 1]]
    for one in encoders:
        one.run(code, r.choice([20, 400, 2000]))
    return encoders


# ---- Andes


def andes_header(r, version, values):
    tags = [bytes([tag + 1, 1, value]) for tag, value in enumerate(values)]
    if version == "1":
        return bytes([*values, 1])
    if version == "2, early":
        return bytes([4, 0, 0, 2, *values])
    if version == "2":
        tags.append(bytes([4, 1, 0]))
    else:  # any order, unknown values, padding
        tags.append(bytes([0x42, 2, 9, 9]))
        r.shuffle(tags)
        while (4 + len(b"".join(tags))) % 4:
            tags.append(b"\xfe\x01\x00")
    body = b"".join(tags)
    return struct.pack("<I", 1 + len(body) | 2 << 24) + body


def as_text(r, data, records):
    data += FILL * (-len(data) % 4)
    rest = (lambda: b"\0" + bytes(r.randrange(256) for _ in range(22))) if records else lambda: b""
    return b"".join(b"%08x\n" % word + rest() for (word,) in struct.iter_unpack("<I", data))


@case("andes: versions 1 and 2, the text twin; full addresses, EVCODE 5, 8 and 15, several sources")
def andes():
    def one(r, code, what):
        full, src_bits = r.randrange(2), r.choice([6, 0])
        encoders = sources(r, code, lambda src: Encoder(r, src=src, src_bits=src_bits, mode=r.choice([BTM, HTM]), full=full,
                                                         rule=r.choice([None, "difference"]), padded=r.choice([0, 0.3]),
                                                         contexts=r.random() < 0.5, evcodes=(0, 4, 5, 8, 15)), src_bits, [3, 17, 62])
        stream, _ = mixed(r, encoders)
        data = andes_header(r, r.choice(["1", "2", "2, early", "2, any order"]), [src_bits, full, r.choice([39, 48, 57, 64])]) + stream
        form = r.choice(["binary", "records", "lines"])
        write(code, data if form == "binary" else as_text(r, data, form == "records"))
        for encoder in encoders:
            same(executed(encoder), encoder.executed, f"{what}, {form}, source {encoder.src}")
        no_errors(what)
    each_seed(one)


# ---- XuanTie


def known_from(table, encoder, first):
    """What is executed from the first synchronizing message of the source on at or behind this offset."""
    begin = next((sent[2] for at, one, sent in table if one is encoder and at >= first and sent[3]), len(encoder.executed))
    return encoder.executed[begin:]


@case("xuantie: every rule of times, TSTAMP of a fixed width, buffers that wrapped or end inside a message")
def xuantie():
    def one(r, code, what):
        src_bits, rule = r.choice([0, 2, 6, 12]), r.choice([None, "difference", "xor", "absolute"])
        fixed = r.choice([0, 40, 64]) if rule else 0
        mode = r.choice([BTM, HTM])
        encoders = sources(r, code, lambda src: Encoder(r, src=src, src_bits=src_bits, mode=mode, rule=rule, fixed_time=fixed), src_bits, [0, 1, 3])
        stream, table = mixed(r, encoders)
        wrapped, cut = r.random() < 0.5, r.randrange(min(CUT_MOST, len(stream))) if r.random() < 0.3 else 0
        begin = r.randrange(len(stream) - cut) if wrapped else 0
        first = begin
        while wrapped and first < len(stream) and stream[first] & 3 != 3:
            first += 1
        first += wrapped
        header = struct.pack("<6I", 24, mode, src_bits, fixed or (64 if rule else 0), wrapped, 0)
        write(code, header + stream[begin:len(stream) - cut])
        options = (["--ts-rule", rule] if rule in ("xor", "absolute") else []) + (["--ts-fixed"] if fixed else [])
        for encoder in encoders:
            wanted, found = known_from(table, encoder, first), executed(encoder, *options, status=(0, 1) if cut or wrapped else (0,))
            check(not cut or len(found) > len(wanted) - 1000, f"{what}: {len(found)} of {len(wanted)} instructions")
            same(found, wanted[:len(found)] if cut else wanted, f"{what}, source {encoder.src}")
    each_seed(one)


@case("xuantie: the time counter wraps; lost messages are gaps, and times are those of the messages")
def wraps():
    def one(r, code, what):
        bits, loses = r.choice([14, 20, 40]), r.random() < 0.5
        encoder = Encoder(r, src=1, src_bits=r.choice([2, 6]), mode=r.choice([BTM, HTM]), rule="difference", time_bits=bits, loses=loses)
        encoder.now &= (1 << bits) - 1
        encoder.run(code, r.choice([100, 4000]))
        stream, table = mixed(r, [encoder])
        write(code, struct.pack("<6I", 24, encoder.mode, encoder.src_bits, bits, 0, 0) + stream)
        found, rest, rows = executed(encoder, status=(0, 1)), iter(encoder.executed), events(encoder)
        check(all(pc in rest for pc in found), f"{what}: not in order")
        check(len(found) >= len(encoder.executed) - encoder.losses, f"{what}: {len(found)} of {len(encoder.executed)}, {encoder.losses} lost")
        equal(sum(row["kind"] == "gap" for row in rows), stream_losses(encoder), f"{what}: gaps")
        times = {at: sent[1] for at, _, sent in table}
        wrong = [row for row in rows if not loses and "time" in row and times.get(row["offset"], row["time"]) != row["time"]]
        check(not wrong, f"{what}: {wrong[:1]}")
    each_seed(one)


def stream_losses(encoder):
    return sum((sent[0][0] & 0xfc) >> 2 == 8 for sent in encoder.sent)


# ---- CEDARtools


@case("ctte: Config, branch prediction, jump target cache, data trace and its losses, the rest of an earlier session")
def cedar():
    def one(r, code, what):
        src_bits, wide, mode = r.choice([0, 1, 2, 3, 4]), r.random() < 0.5, r.choice([BTM, HTM, HTM])
        tables = {"predictor": r.choice([0, 4, 9]), "cache": r.choice([0, 3, 6])} if mode == HTM else {}
        rule, version = r.choice([None, "difference"]), r.choice([1, 1, 2])
        encoders = sources(r, code, lambda src: CedarEncoder(r, src=src, src_bits=src_bits, mode=mode, wide=wide, rule=rule, version=version,
                                                              padded=r.choice([0, 0.3]), contexts=r.random() < 0.5, **tables), src_bits, [1, 0])
        stream, _ = mixed(r, encoders)
        if len(encoders) == 1:
            stream = with_earlier_session(r, encoders[0]) + stream
        write(code, stream)
        for encoder in encoders:
            same(executed(encoder), encoder.executed, f"{what}, source {encoder.src}")
            found = [(e["name"], e["data_size"], int(e["address"], 16), int(e["data"], 16)) for e in events(encoder) if e["kind"] == "access"]
            same(found, encoder.accesses, f"{what}, source {encoder.src}, accesses")
        no_errors(what)
    each_seed(one)


if __name__ == "__main__":
    harness.main()
