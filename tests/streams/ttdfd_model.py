#!/usr/bin/env python3
"""Streams of tt-dfd from a model of the hardware that shares nothing with the library, decoded to the execution they were made of.

The executions are those of the hardware's streams (../shared/corpus/ttdfd), with their traps, privilege modes and contexts; the
model adds what they do not have together: every frame length, timestamps with steps, periodic synchronization, several
sources in one buffer, stops and restarts, stops right after a jump, loss and resynchronization. Streams of one source are
also decoded without any parameter.

usage: ttdfd_model.py NTRACE [SEED [COUNT]]
"""
import os
import random
import re
import struct
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import NTRACE, SHARED, check, corpus_cases, main, scratch

SEED, COUNT = (int(value) for value in (sys.argv[2:] + ["1", "12"][len(sys.argv[2:]):]))
CORPUS = os.path.join(SHARED, "corpus", "ttdfd")
PRIVILEGE = {0: 0, 1: 1, 3: 3}


class Program:
    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        wide = data[4] == 2
        offset, size, count = (struct.unpack_from("<Q", data, 32)[0], *struct.unpack_from("<HH", data, 54)) if wide else \
                              (struct.unpack_from("<I", data, 28)[0], *struct.unpack_from("<HH", data, 42))
        self.segments = []
        for i in range(count):
            if wide:
                kind, _, at, address, _, filesz = struct.unpack_from("<IIQQQQ", data, offset + i * size)
            else:
                kind, at, address, _, filesz = struct.unpack_from("<IIIII", data, offset + i * size)
            if kind == 1:
                self.segments.append((address, data[at:at + filesz]))
        self.known = {}

    def half(self, address):
        for first, data in self.segments:
            if first <= address < first + len(data):
                return int.from_bytes(data[address - first:address - first + 2], "little")
        raise KeyError(hex(address))

    def insn(self, pc):
        """(halfwords, kind): plain, branch, jump (direct), indirect, xret"""
        if pc not in self.known:
            low = self.half(pc)
            if low & 3 != 3:
                self.known[pc] = 1, self.narrow(low)
            else:
                self.known[pc] = 2, self.full(low | self.half(pc + 2) << 16)
        return self.known[pc]

    @staticmethod
    def narrow(code):
        if code & 3 == 1 and code >> 13 in (6, 7):
            return "branch"
        if code & 3 == 1 and code >> 13 == 5:
            return "jump"
        if code & 3 == 2 and code >> 13 == 4 and not code >> 2 & 31 and code >> 7 & 31:
            return "indirect"
        return "plain"

    @staticmethod
    def full(code):
        opcode = code & 0x7f
        if code in (0x30200073, 0x10200073):
            return "xret"
        return {0x63: "branch", 0x6f: "jump", 0x67: "indirect"}.get(opcode, "plain")


def pack(fields):
    """Fields (value, width or None) to bytes. I-CNT 0 of IndirectBranchHist has no byte."""
    groups, current = [], []
    for value, width in fields:
        if width is not None:
            current += [value >> i & 1 for i in range(width)]
            continue
        bits = [value >> i & 1 for i in range(value.bit_length())]
        if not (len(current) % 6 == 0 and current and value == 0 and fields[0][0] == 28):
            if len(current) % 6 == 0 and not bits:
                bits = [0]
            current += bits
        current += [0] * (-len(current) % 6)
        groups.append(current)
        current = []
    if current:
        groups.append(current + [0] * (-len(current) % 6))
    out = bytearray()
    for number, group in enumerate(groups):
        for at in range(0, len(group), 6):
            out.append(sum(bit << (2 + i) for i, bit in enumerate(group[at:at + 6])))
        out[-1] |= 3 if number == len(groups) - 1 else 1
    return bytes(out)


class Encoder:
    """The messages of one core: bytes, and how many stray bytes follow."""

    def __init__(self, src, stamped, rng, sync):
        self.src, self.stamped, self.rng, self.sync = src, stamped, rng, sync
        self.messages, self.time = [], 0x1000
        self.icnt, self.hist, self.ref, self.on, self.lost = 0, 1, 0, False, False
        self.context, self.prv, self.since, self.repeats, self.repeated = 0, 3, 0, 0, None

    def put(self, *fields, stamp=True, strays=0):
        tcode, *rest = fields
        if tcode != 30:
            self.flush_repeat()
        whole = [(tcode, 6), (self.src, 4), *rest]
        if self.stamped and stamp:
            whole.append((self.time, None))
        if not self.lost:
            self.messages.append([pack(whole), strays])

    def ownership(self, strays, stamp=True):
        self.put(2, ((self.context << 5) | (self.prv << 2), None), stamp=stamp, strays=strays)

    def start(self, pc, reason):
        self.on, self.lost, self.ref, self.icnt, self.hist, self.since = True, False, pc >> 1, 0, 1, 0
        self.put(9, (reason, 4), (0, None), (self.ref, None))
        self.ownership(0, stamp=False)

    def flush_repeat(self):
        if self.repeats:
            count, self.repeats = self.repeats, 0
            self.put(30, (count, None))
        self.repeated = None

    def branch(self, btype, target, trap_value=None, xret=False):
        """IndirectBranchHist, or a repetition; or its synchronizing form when one is due."""
        uaddr = (target >> 1) ^ self.ref
        key = (self.icnt, uaddr, self.hist)
        self.ref = target >> 1
        if self.due():
            self.put(29, (2, 4), (btype, 2), (self.icnt, None), (self.ref, None), (self.hist, None))
            self.since = 0
            self.icnt, self.hist = 0, 1
            self.ownership(0 if trap_value is not None else 1 if self.stamped else 2, stamp=trap_value is None)
        elif btype == 0 and not xret and key == self.repeated:
            self.icnt, self.hist = 0, 1
            self.repeats += 1
            if self.repeats == 15:
                self.put(30, (15, None))
                self.repeats, self.repeated = 0, key
            return
        else:
            self.put(28, (btype, 2), (self.icnt, None), (uaddr, None), (self.hist, None))
            if btype == 0 and not xret:
                self.repeated = key
            self.icnt, self.hist = 0, 1
            if btype or xret:
                self.ownership(0 if trap_value is not None else 1 if self.stamped else 2, stamp=trap_value is None)
        if trap_value is not None:
            self.put(56, (0, 2), (trap_value, None))

    def due(self):
        self.since += 1
        return self.sync and self.since > self.sync

    def count(self, halfwords, taken, following):
        self.icnt += halfwords
        if taken is not None:
            self.hist = self.hist << 1 | taken
        full = self.hist >> 31
        if full:
            self.put(27, (1, 4), (self.hist, None), strays=1)
            self.hist = 1
        if self.icnt >= 0x800:
            if self.hist == 1:
                self.put(27, (0, 4), (self.icnt, None), strays=1)
            else:
                self.ref = following >> 1
                self.put(29, (4, 4), (0, 2), (self.icnt, None), (self.ref, None), (self.hist, None))
                self.ownership(1 if self.stamped else 2)
                self.hist, self.since = 1, 0
            self.icnt = 0

    def stop(self, evcode):
        self.put(33, (evcode, 4), (1, 2), (self.icnt, None), (self.hist, None))
        self.on = False

    def lose(self):
        self.flush_repeat()
        self.put(8, (0, 4), (4, 8), stamp=True)
        self.lost = True


def frames(messages, length):
    out = bytearray()
    for data, strays in messages:
        if len(out) % length + len(data) > length:
            out += b"\xff" * (-len(out) % length)
        out += data
        for _ in range(strays):
            if len(out) % length + 1 > length:
                out += b"\xff" * (-len(out) % length)
            out += b"\x03"
    return bytes(out + b"\xff" * (-len(out) % length))


def unpacked(folder, name):
    return subprocess.run(["zstd", "-dcq", os.path.join(CORPUS, folder, name)], stdout=subprocess.PIPE, check=True).stdout.decode()


def events_of(folder):
    path, found = os.path.join(CORPUS, folder, "events.txt"), {}
    if os.path.exists(path):
        for line in open(path, encoding="ascii"):
            at, letter, argument = line.split(maxsplit=2)
            found.setdefault(int(at), {})[letter] = argument.strip()
    return found


def encode(folder, src, rng, options):
    """Returns the messages, and the program counters that they tell."""
    pcs = [int(line, 16) for line in unpacked(folder, "pc.txt.zst").split()]
    first = rng.randrange(0, max(1, len(pcs) - options["length"]))
    last = min(len(pcs), first + options["length"])
    program, events = Program(os.path.join(CORPUS, folder, "program.elf")), events_of(folder)
    e, told, quiet = Encoder(src, options["stamped"], rng, options["sync"]), [], 0
    for at in sorted(events):
        if at <= first:
            e.context = int(events[at].get("C", e.context))
            e.prv = PRIVILEGE[int(events[at].get("P", e.prv))]
    reason, i = 1, first
    awaited = None  # the kind of the jump whose target is not known yet
    while i < last:
        pc = pcs[i]
        now = events.get(i, {}) if i > first else {}
        e.context = int(now.get("C", e.context))
        e.prv = PRIVILEGE[int(now.get("P", e.prv))]
        trap = now.get("E") or now.get("I")
        e.time += rng.choice(options["steps"])
        if not e.on:
            if quiet:
                quiet -= 1
                i += 1
                continue
            e.start(pc, reason)
            awaited = None
        elif e.lost:
            quiet -= 1
            if quiet > 0:
                i += 1
                continue
            e.start(pc, 7)
            awaited = None
        else:
            if awaited:
                epc = int(re.search(r"epc=([0-9a-f]+)", trap).group(1), 16) if trap else pc
                e.branch(0, epc, xret=awaited == "xret" and not trap)
            if trap:
                tval = int(re.search(r"tval=([0-9a-f]+)", trap).group(1), 16)
                e.branch(2 if "E" in now else 3, pc, trap_value=tval)
            awaited = None
        halfwords, kind = program.insn(pc)
        following = pcs[i + 1] if i + 1 < len(pcs) else pc + 2 * halfwords
        after = events.get(i + 1, {})
        epc = after.get("E") or after.get("I")
        target = int(re.search(r"epc=([0-9a-f]+)", epc).group(1), 16) if epc else following
        told.append(pc)
        taken = (target != pc + 2 * halfwords) if kind == "branch" else None
        e.count(halfwords, taken, target)
        if kind in ("indirect", "xret"):
            awaited = kind
        roll = rng.random()
        if roll < options["stops"]:
            if awaited:  # the target is not known: U-ADDR 0, then I-CNT 0
                e.put(28, (0, 2), (e.icnt, None), (0, None), (e.hist, None))
                e.icnt, e.hist, awaited = 0, 1, None
            debug = rng.random() < 0.3
            e.stop(0 if debug else 4)
            reason, quiet = (3 if debug else 5), rng.randrange(1, 60)
        elif roll < options["stops"] + options["losses"]:
            e.lose()
            quiet = rng.randrange(1, 80)
            told.append("lost")  # some of the program counters before it are not told
        i += 1
    if e.on and not e.lost:
        if awaited:
            e.put(28, (0, 2), (e.icnt, None), (0, None), (e.hist, None))
            e.icnt, e.hist = 0, 1
        e.stop(4)
    return e.messages, told


def decode(path, folder, *options):
    done = subprocess.run([NTRACE, "decode", *options, "--show", "pc", path, "-e", os.path.join(CORPUS, folder, "program.elf")],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return [int(line, 16) for line in done.stdout.split()], done.stderr.decode(), done.returncode


def is_subsequence(part, whole):
    rest = iter(whole)
    return all(item in rest for item in part)


def interleave(streams, length, rng):
    parts = [[stream[at:at + length] for at in range(0, len(stream), length)] for stream in streams]
    out = b""
    while any(parts):
        some = rng.choice([part for part in parts if part])
        out += some.pop(0)
    return out


def judge(seed):
    rng = random.Random(seed)
    length = 64 * rng.choice([1, 1, 1, 2, 3, 4, 15])
    options = {"stamped": rng.random() < 0.5, "sync": rng.choice([0, 0, 1, 5, 16, 64]), "steps": rng.choice([[0, 1], [1, 4, 900], [1 << 20]]),
               "stops": rng.choice([0, 0, 0.002, 0.02]), "losses": rng.choice([0, 0, 0.003]), "length": rng.choice([50, 3000, 9000])}
    count = rng.choice([1, 1, 3])
    folders = [rng.choice(["traps", "median", "dhrystone-ts", "long", "pingpong"])] * count
    made, streams = [], []
    for number, folder in enumerate(folders):
        src = rng.randrange(16) if count == 1 else number * 5 + 1
        messages, told = encode(folder, src, rng, options)
        made.append((src, told))
        streams.append(frames(messages, length))
    path = os.path.join(scratch(), "stream.nex")
    with open(path, "wb") as file:
        file.write(interleave(streams, length, rng))
    for src, told in made:
        losses = told.count("lost")
        sure = [item for item in told if item != "lost"]
        for how in (("--dialect", "tt-dfd", "--src", str(src)), ()):
            if not how and count > 1:
                continue
            got, said, _ = decode(path, folders[0], *how)
            good = got == sure if not losses else is_subsequence(got, sure) and (count > 1 or "overflow" in said)
            at = next((i for i, pair in enumerate(zip(got, sure)) if pair[0] != pair[1]), min(len(got), len(sure)))
            check(good, f"{folders} {options} frame {length} src {src} {how}: {len(got)} of {len(sure)}, differ at {at}\n{said[:600]}")


corpus_cases("ttdfd", COUNT, lambda _: ((f"seed {seed}", judge, seed) for seed in range(SEED, SEED + COUNT)))
main()
