#!/usr/bin/env python3
"""Every message of N-Trace 1.0 with every legal and illegal value of its fields, and every pair of consecutive messages, made by a writer that
shares nothing with the project (nexus_writer.Message). What `dump`, `check` and `decode` say of them agrees with a verdict that the tables below
compute from the statements of the specification, by their identifiers. TAP.

Each case is a source of its own: SRC has 12 bits, and one stream has them all.

usage: statements.py NTRACE
"""
import itertools
import json
import os
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
import harness
from harness import case, check, equal, main, scratch
from nexus_writer import Message, branch

(OWNERSHIP, DIRECT, INDIRECT, ERROR, SYNC, DIRECT_SYNC, INDIRECT_SYNC, RESOURCE, HISTORY, HISTORY_SYNC, REPEAT, STOP) = (
    2, 3, 4, 8, 9, 11, 12, 27, 28, 29, 30, 33)
VENDOR, RESERVED = 57, 40
SYNCS = (SYNC, DIRECT_SYNC, INDIRECT_SYNC, HISTORY_SYNC)
FLOW = (DIRECT, INDIRECT, RESOURCE, HISTORY, REPEAT)
VAR = 0
# Section 3: the fields after TCODE and SRC, with their width.
FIELDS = {OWNERSHIP: [("PROCESS", VAR)], DIRECT: [("ICNT", VAR)], INDIRECT: [("BTYPE", 2), ("ICNT", VAR), ("UADDR", VAR)],
          ERROR: [("ETYPE", 4), ("ECODE", VAR)], SYNC: [("SYNC", 4), ("ICNT", VAR), ("FADDR", VAR)],
          DIRECT_SYNC: [("SYNC", 4), ("ICNT", VAR), ("FADDR", VAR)],
          INDIRECT_SYNC: [("SYNC", 4), ("BTYPE", 2), ("ICNT", VAR), ("FADDR", VAR)],
          RESOURCE: [("RCODE", 4), ("RDATA0", VAR), ("RDATA1", VAR)],
          HISTORY: [("BTYPE", 2), ("ICNT", VAR), ("UADDR", VAR), ("HIST", VAR)],
          HISTORY_SYNC: [("SYNC", 4), ("BTYPE", 2), ("ICNT", VAR), ("FADDR", VAR), ("HIST", VAR)], REPEAT: [("BCNT", VAR)],
          STOP: [("EVCODE", 4), ("CDF", 2), ("ICNT", VAR), ("HIST", VAR)], VENDOR: [("DATA", VAR)], RESERVED: [("DATA", VAR)]}

# The program: 0x1000 add, 0x1004 beq 0x1000, 0x1008 jr a5. Each message of the flow below begins and ends at 0x1000.
PC = 0x1000
CODE = struct.pack("<3I", 0x003100b3, branch(-4), 0x00078067)


def message(tcode, **values):
    """TCODE and fields of a message that goes once around, or with these values."""
    usual = {"PROCESS": 2 | 3 << 2, "BTYPE": 0, "UADDR": 0, "FADDR": PC >> 1, "ETYPE": 0, "ECODE": 4, "SYNC": 2, "RCODE": 0, "RDATA0": 2, "BCNT": 2,
             "EVCODE": 4, "CDF": 0, "HIST": 2, "DATA": 5, "ICNT": {DIRECT: 4, DIRECT_SYNC: 4, SYNC: 4, STOP: 0}.get(tcode, 6)}
    fields = {}
    for name, _ in FIELDS[tcode]:
        if name == "RDATA1" and values.get("RCODE", 0) != 2 or name == "HIST" and tcode == STOP and values.get("CDF", 0) != 1:
            continue
        fields[name] = values.get(name, 1 if name == "HIST" and tcode == STOP else usual.get(name, 3))
    return tcode, fields


def written(src, one):
    tcode, fields = one
    out = Message().fixed(tcode, 6).fixed(src or 0, 0 if src is None else 12)
    for name, width in FIELDS[tcode] + [("TSTAMP", VAR)]:
        if name in fields:
            out.fixed(fields[name], width) if width else out.variable(fields[name])
    return out.bytes()


START, BTM, HTM = message(SYNC, SYNC=5, ICNT=0), [message(DIRECT)], [message(HISTORY)]


# ---- running


def ntrace(command, *options):
    done = subprocess.run([harness.NTRACE, command, os.path.join(scratch(), "stream"), "--src-bits", "12", "--format", "jsonl", *options],
                          capture_output=True, text=True, timeout=120)
    check(done.returncode in (0, 1), done.stderr[-300:])
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def run(cases):
    """For each list of messages: what dump shows, the statements that check names, and the reasons of gaps."""
    check(len(cases) <= 4096, "one source for each case")
    with open(os.path.join(scratch(), "stream"), "wb") as file:
        file.write(b"".join(written(src, one) for src, ones in enumerate(cases) for one in ones))
    with open(os.path.join(scratch(), "code"), "wb") as file:
        file.write(CODE)
    shown, named, gaps = ([[] for _ in cases] for _ in range(3))
    for row in ntrace("dump"):
        shown[row["fields"]["SRC"]].append((row["tcode"], {k: int(v, 16) if isinstance(v, str) else v for k, v in row["fields"].items() if k != "SRC"}))
    for row in ntrace("check", "--max", "1000000"):
        named[row["src"]].append((row["severity"], row["statements"]))
    for row in ntrace("decode", "--raw", os.path.join(scratch(), "code") + f"@{PC:#x}"):
        if row["kind"] == "gap":
            gaps[row["src"]].append(row["reason"])
    return shown, named, gaps


def compare(cases, verdicts):
    """`verdicts`: for each case the identifiers of the statements that it violates, and whether the flow is lost."""
    shown, named, gaps = run([ones for ones, _ in cases])
    wrong = []
    for (ones, what), (expected, lost), dumped, said, gap in zip(cases, verdicts, shown, named, gaps):
        if lost is not None and bool(gap) != lost:
            wrong.append(f"decode: {what}: lost {gap}, expected {lost}")
        found = {statement for _, statements in said for statement in statements.split()}
        for group in expected:
            if not found & group:
                wrong.append(f"check: {what}: none of {sorted(group)} in {sorted(found)}")
        if found - set().union(*expected):
            wrong.append(f"check: {what}: {sorted(found - set().union(*expected))} besides {expected}")
        legible = [(tcode, fields) for tcode, fields in ones if tcode in FIELDS and tcode not in (VENDOR, RESERVED)]
        kept = [(tcode, fields) for tcode, fields in dumped if tcode not in (VENDOR, RESERVED)]
        if [tcode for tcode, _ in kept] != [tcode for tcode, _ in legible] or any(
                have != {k: v for k, v in want.items() if k in have} for (_, want), (_, have) in zip(legible, kept)):
            wrong.append(f"dump: {what}: {dumped}")
    for line in wrong[:12]:
        harness.note(line)
    equal(len(wrong), 0, f"disagreements in {len(cases)} streams")


# ---- values of fields: the statements that a value violates (each group: one of them is named), and whether the flow is lost


def bits(limit):
    return [1 << limit - 1, (1 << limit) - 1], [1 << limit]


def values_of(tcode, field):
    """(value, violated statements, lost) of each value worth a case; lost None: not judged here."""
    def sync():
        for value in range(16):
            groups = [{"NT-264", "NT-265"}] if value == 8 or value >= 10 else [{"NT-162"}] if value == 7 else [{"NT-204", "NT-256"}] if value == 3 else []
            groups += [{"NT-173", "NT-226"}] if tcode == SYNC and value in (3, 5, 7) else []
            groups += [{"NT-233"}] if value == 4 and tcode == HISTORY_SYNC else []  # in HTM
            yield value, groups, value == 7
    def etype():
        for value in range(16):
            yield value, [{"NT-164"}] if value else [], value < 8
    def ecode():
        for value in (0, 4, 8, 0x80, 0x8c):
            yield value, [], True
        for bit in (0, 1, 4, 5, 6):
            yield 1 << bit, [{"NT-167"}], True
        yield 0x100, [{"NT-166"}], True
    def rcode():
        for value in range(16):
            yield value, [{"NT-189"}] if value > 2 else [], None
    def evcode():
        for value in range(16):
            yield value, [{"NT-207"}] if value not in (0, 1, 4) else [], False
    def cdf():
        yield 0, [], False
        yield 1, [{"NT-209"}], False
        yield 2, [{"NT-208"}], True
        yield 3, [{"NT-208"}], True
    def process():
        for form, prv, virtual, context in itertools.product(range(4), range(4), range(2), (0, 9)):
            groups = [{"NT-146"}] if form == 1 else [{"NT-142"}] if form == 3 else []
            groups += [{"NT-149"}] if prv == 2 or virtual and prv == 3 else []
            groups += [{"NT-145"}] if form == 0 and context else []
            yield form | prv << 2 | virtual << 4 | context << 5, groups, False
    def hist():
        least = 2 if tcode in (HISTORY, HISTORY_SYNC) else 1
        yield from ((value, [], None) for value in (least, 3, 7) if value >= least)
        yield 0, [{"NT-129"}], True
        yield 1 << 32, [{"NT-133"}, {"NT-244", "NT-228"}], None
    def icnt():
        if tcode == DIRECT:  # its synchronizing form may come in linear code
            yield 0, [{"NT-154", "NT-229"}], None
        elif tcode in (INDIRECT, HISTORY):
            yield 0, [{"NT-229", "NT-159"}] + ([{"NT-244", "NT-228"}] if tcode == HISTORY else []), None
        for value in bits(22)[0]:
            yield value, [], None
        yield 1 << 22, [{"NT-131"}], None
    def address():
        yield from ((value, [], None) for value in (0, PC >> 1, 1 << 62, (1 << 63) - 1))
        yield 1 << 63, [{"NT-132"}], None
        yield 0xffffffffc0100031, [{"NT-132", "NT-212"}], None  # sign-extended: a note
    def bcnt():
        yield 0, [{"NT-199"}], False
        yield from ((value, [], False) for value in (1, 2, 1000))
        yield (1 << 18) - 1, [], False
        yield 1 << 18, [{"NT-136"}], False
    def btype():
        return ((value, [], None) for value in range(4))
    known = {"SYNC": sync, "ETYPE": etype, "ECODE": ecode, "RCODE": rcode, "EVCODE": evcode, "CDF": cdf, "PROCESS": process, "HIST": hist,
             "ICNT": icnt, "UADDR": address, "FADDR": address, "BCNT": bcnt, "BTYPE": btype}
    return known[field]() if field in known else ()


@case("every value of every field: dump shows it, check names the statement that it violates, decode loses the flow only where it must")
def fields():
    cases, verdicts = [], []
    for tcode in FIELDS:
        history = tcode in (HISTORY, HISTORY_SYNC)
        for field, _ in FIELDS[tcode]:
            for value, groups, lost in values_of(tcode, field):
                ends = tcode == STOP and field == "HIST"
                first = HTM if history or ends else BTM
                one = message(tcode, **{field: value}, **({"CDF": 1, "ICNT": 8} if ends else {}))
                # what follows makes the case complete: a sync after an Error, the second Ownership message, halfwords after a count
                more = [message(SYNC, SYNC=7, ICNT=0)] if tcode == ERROR and (field != "ETYPE" or value < 8) else []
                if tcode == ERROR and field == "ETYPE" and value >= 8:
                    more = [message(DIRECT)]
                if tcode == OWNERSHIP:
                    more = [message(DIRECT)]
                if tcode == RESOURCE and field == "RCODE" and value in (1, 2):
                    groups = groups + [{"NT-338"}]  # HIST in BTM
                cases.append(([START, *first, one, *more], f"TCODE {tcode} {field}={value:#x}"))
                verdicts.append((groups, lost))
    compare(cases, verdicts)


@case("RDATA of ResourceFull")
def resources():
    table = [((0, 0, None), [{"NT-183", "NT-185"}]), ((0, 1, None), []), ((0, (1 << 22) - 1, None), []), ((0, 1 << 22, None), [{"NT-131"}]),
             ((1, 0, None), [{"NT-129"}]), ((1, 1, None), [{"NT-191"}]), ((1, 2, None), []), ((1, 0xffffffff, None), []),
             ((1, 1 << 32, None), [{"NT-133"}]), ((2, 5, 0), [{"NT-320"}]), ((2, 5, 1), []), ((2, 5, (1 << 18) - 1), []),
             ((2, 5, 1 << 18), [{"NT-135"}])]
    cases = []
    for (rcode, first, second), _ in table:
        more = {} if second is None else {"RDATA1": second}
        cases.append(([START, *HTM, message(RESOURCE, RCODE=rcode, RDATA0=first, **more)], f"RCODE {rcode} {first:#x} {second}"))
    compare(cases, [(groups, None) for _, groups in table])


@case("every TCODE: those of the standard, of vendors, and reserved ones")
def tcodes():
    for tcode in range(64):
        FIELDS.setdefault(tcode, [("DATA", VAR)])
    cases = [([START, *BTM, message(tcode)], f"TCODE {tcode}") for tcode in range(63) if tcode not in STANDARD]
    try:
        verdicts = [([{"NT-111" if 56 <= tcode <= 62 else "NT-112", "NT-116"}], False) for tcode in range(63) if tcode not in STANDARD]
        _, named, gaps = run([ones for ones, _ in cases])
        for (_, what), (groups, _), said, gap in zip(cases, verdicts, named, gaps):
            equal((bool({s for _, text in said for s in text.split()} & groups[0]), len(said), gap), (True, 1, []), what)
    finally:
        for tcode in range(64):
            if tcode not in STANDARD and tcode not in (VENDOR, RESERVED):
                del FIELDS[tcode]


STANDARD = (OWNERSHIP, DIRECT, INDIRECT, ERROR, SYNC, DIRECT_SYNC, INDIRECT_SYNC, RESOURCE, HISTORY, HISTORY_SYNC, REPEAT, STOP)


# ---- pairs


class Source:
    """What the statements ask of a sequence of messages: state of one source in `mode`."""

    def __init__(self, mode):
        self.htm = mode is HTM
        self.on, self.stopped, self.lost, self.error, self.loss = True, False, False, False, False
        self.branch = HISTORY if self.htm else DIRECT  # the branch message that RepeatBranch would repeat
        self.pooled, self.hist, self.contexts, self.repeats = 0, 0, False, False
        self.synchronized = False
        self.gap = self.again = False

    def take(self, one):
        """Returns the groups of statements that the message violates here, and applies it."""
        tcode, fields = one
        groups = []
        if self.error and tcode not in SYNCS + (STOP,):
            groups.append({"NT-169"})
        if self.synchronized and self.contexts and tcode not in (OWNERSHIP, ERROR):
            groups.append({"NT-267"})
        if tcode in (VENDOR, RESERVED):
            groups.append({"NT-111", "NT-116"} if tcode == VENDOR else {"NT-112", "NT-116"})
        if tcode in FLOW and self.stopped:
            groups.append({"NT-203", "NT-337"})
            self.gap = True
        if self.on or tcode not in FLOW:
            groups += self.judge(tcode, fields)
        self.apply(tcode, fields)
        return groups

    def judge(self, tcode, fields):
        groups = []
        if tcode in (DIRECT, DIRECT_SYNC) and self.htm:
            groups.append({"NT-153", "NT-218"})
        if (tcode in (HISTORY, HISTORY_SYNC) or tcode == RESOURCE and fields["RCODE"] == 1) and self.htm is False:
            groups.append({"NT-338"})
        if tcode == STOP and self.htm is not None and fields["CDF"] != self.htm:
            groups.append({"NT-210"} if self.htm else {"NT-209"})
        if tcode == REPEAT:
            if self.on and self.branch is None:
                groups.append({"NT-199"})
                self.gap = True
            if self.on and self.branch is not None and self.again:
                groups.append({"NT-317"})
            if self.htm and not self.repeats:
                groups.append({"NT-318"})
            self.repeats = True
        if self.hist and self.on and "ICNT" in fields and tcode in (DIRECT, DIRECT_SYNC, SYNC):
            groups.append({"NT-266", "NT-279"})
        if tcode in SYNCS:
            groups += self.judge_sync(tcode, fields)
        return groups

    def judge_sync(self, tcode, fields):
        reason, groups = fields["SYNC"], []
        if self.error and reason != 7:
            groups.append({"NT-262"})
        if reason == 7 and not self.loss:
            groups.append({"NT-162"})
            self.gap |= self.on
        if self.on and reason == 3:
            groups.append({"NT-204", "NT-256"})
        if self.stopped and reason in (2, 4, 6):
            groups.append({"NT-259", "NT-337"})
        if self.stopped and reason == 0:
            groups.append({"NT-253"})
        if reason == 4 and (self.htm or self.htm is None and tcode == HISTORY_SYNC):
            groups.append({"NT-233"})
        if tcode == SYNC and fields["ICNT"] and reason not in (1, 9) and (self.stopped or self.error or reason in (3, 5, 7)):
            groups.append({"NT-173", "NT-226"})
        return groups

    def apply(self, tcode, fields):
        if tcode in (VENDOR, RESERVED, OWNERSHIP):
            self.contexts |= tcode == OWNERSHIP
        elif tcode in SYNCS:
            self.on, self.stopped, self.branch, self.loss = True, False, None, False
            self.htm = True if tcode == HISTORY_SYNC and self.htm is None else self.htm
        elif tcode == STOP:
            self.on, self.stopped, self.branch, self.htm = False, True, None, None
        elif tcode == ERROR:
            self.on, self.stopped, self.branch, self.htm, self.gap = False, False, None, None, True
        elif tcode != REPEAT:
            self.branch = tcode if tcode != RESOURCE else None
            if self.stopped:
                self.stopped = False
        self.again = tcode == REPEAT or self.again and tcode in (VENDOR, RESERVED, OWNERSHIP)
        self.synchronized = tcode in SYNCS
        self.error = tcode == ERROR
        self.loss |= tcode == ERROR
        if tcode == RESOURCE:
            self.pooled, self.hist = self.pooled + (2 if fields["RCODE"] == 0 else 0), self.hist or fields["RCODE"] == 1
        elif "ICNT" in fields:
            self.pooled = self.hist = 0


def members(htm):
    """The messages of the pairs: the usual form, syncs with every reason."""
    yield from (message(OWNERSHIP), message(DIRECT), message(INDIRECT), message(ERROR), message(RESOURCE, RDATA0=2), message(HISTORY), message(REPEAT),
                message(STOP, CDF=int(htm)), message(STOP, CDF=int(not htm)), message(VENDOR), message(RESERVED))
    for tcode, reason in itertools.product(SYNCS, (0, 1, 2, 3, 4, 5, 6, 7, 9)):
        yield message(tcode, SYNC=reason)
    yield message(SYNC, SYNC=5, ICNT=0)
    yield message(SYNC, SYNC=7, ICNT=0)


def fitted(one, pooled):
    """The message after a ResourceFull with so many halfwords: I-CNT is smaller."""
    tcode, fields = one
    return (tcode, {**fields, "ICNT": fields["ICNT"] - pooled}) if pooled and fields.get("ICNT", 0) >= pooled else one


def pairs(mode, name):
    cases, verdicts = [], []
    for first, second in itertools.product(members(mode is HTM), repeat=2):
        source = Source(mode)
        groups = source.take(first)
        second = fitted(second, source.pooled)
        groups = groups + source.take(second)
        what = f"{name}: {first} {second}"
        cases.append(([START, *mode, first, second], what))
        verdicts.append((groups, source.gap if not source.pooled else None))
    compare(cases, verdicts)


@case("every pair of messages in BTM")
def pairs_btm():
    pairs(BTM, "BTM")


@case("every pair of messages in HTM")
def pairs_htm():
    pairs(HTM, "HTM")


# ---- the encoder: records of the trace ingress port, and the bytes of every message that the statements ask for

COLUMNS = "cycle iaddr iretire ilastsize itype priv halted reset trigger ctype scontext hcontext time".split()
JUMPS = {6: 3, 8: 4, 10: 4, 12: 4, 13: 4, 14: 4}  # itype: width of the port


def block(iaddr, itype=0, iretire=2, **more):
    values = {"cycle": 1, "iaddr": hex(iaddr), "iretire": iretire, "ilastsize": 1, "itype": itype, "priv": 3, **more}
    return ",".join(str(values.get(name, 0)) for name in COLUMNS)


def encodes(what, options, rows, *messages, src=2741):
    path = os.path.join(scratch(), "port.csv")
    with open(path, "w", encoding="ascii") as file:
        file.write("\n".join([",".join(COLUMNS), *rows]) + "\n")
    done = subprocess.run([harness.NTRACE, "encode", "--ingress", path, *(["--src-bits", "12", "--src-id", str(src)] if src is not None else []),
                           *options.split()],
                          capture_output=True, timeout=60)
    equal(done.returncode, 0, f"{what}: {done.stderr}")
    equal(done.stdout.hex(), b"".join(written(src, one) for one in messages).hex(), what)


def begin(address=0x1000, **more):
    return SYNC, {"SYNC": 5, "ICNT": 0, "FADDR": address >> 1, **more}


def stop(icnt, hist=1, htm=True, evcode=4, **more):
    return STOP, {"EVCODE": evcode, "CDF": int(htm), "ICNT": icnt, **({"HIST": hist} if htm else {}), **more}


def jumped(icnt, old, new, btype=0, hist=None, **more):
    return (INDIRECT if hist is None else HISTORY), {"BTYPE": btype, "ICNT": icnt, "UADDR": (old ^ new) >> 1, **({} if hist is None else {"HIST": hist}), **more}


@case("itype: NT-030 to NT-033, NT-035 to NT-039, NT-044, NT-045, NT-048, NT-156, NT-194, NT-219, NT-221, NT-336, NT-339")
def itypes():
    for mode in ("btm", "htm"):
        htm, options = mode == "htm", f"--mode {mode}"
        for itype in (0, 9, 11, 15):  # straight on, direct call and jumps: only I-CNT
            encodes(f"{mode} {itype}", options, [block(0x1000, itype, 4), block(0x2000 if itype else 0x1008)], begin(), stop(6, htm=htm))
        for itype, width in JUMPS.items():
            encodes(f"{mode} {itype}", f"{options} --itype-width {width}", [block(0x1000, itype, 4), block(0x2000)],
                    begin(), jumped(4, 0x1000, 0x2000), stop(2, htm=htm))
        for detail, btypes in (("on", {1: 2, 2: 3, 3: 0}), ("off", {1: 1, 2: 1, 3: 0})):
            for itype, btype in btypes.items():
                encodes(f"{mode} {itype}", f"{options} --btype-detail {detail}", [block(0x1000, itype, 4), block(0x2000)],
                        begin(), jumped(4, 0x1000, 0x2000, btype), stop(2, htm=htm))
    taken = [block(0x1000, 4), block(0x1004, 5, 1, ilastsize=0), block(0x3000, 10), block(0x2000)]
    encodes("btm branches", "--mode btm", taken, begin(), (DIRECT, {"ICNT": 3}), jumped(2, 0x1000, 0x2000), stop(2, htm=False))
    encodes("htm branches", "--mode htm", taken, begin(), jumped(5, 0x1000, 0x2000, hist=0b101), stop(2))
    encodes("htm: a trap", "--mode htm", [block(0x1000, 4), block(0x1004, 1), block(0x2000)], begin(), jumped(4, 0x1000, 0x2000, 2, 0b10), stop(2))


@case("the return stack: NT-042, NT-043, NT-046, NT-047, NT-304, NT-305, NT-308, NT-310, NT-311")
def returns():
    call = [block(0x1000, 8), block(0x2000, 12)]
    for mode in ("count", "partial", "full"):
        options = f"--implicit-return {mode}"
        encodes(f"{mode}: swap and return", options, [*call, block(0x1004, 13), block(0x2004)], begin(),
                jumped(2, 0x1000, 0x2000), jumped(4, 0x2000, 0x2004), stop(2))
        encodes(f"{mode}: a reported call", options, [block(0x1000, 8), block(0x2000, 13), block(0x1004)], begin(), jumped(2, 0x1000, 0x2000), stop(4))
        encodes(f"{mode}: a jump does not change the stack", options,
                [block(0x1000, 9), block(0x2000, 10), block(0x3000, 11), block(0x3100, 15), block(0x3200, 14), block(0x4000, 13), block(0x1004)],
                begin(), jumped(4, 0x1000, 0x3000), jumped(6, 0x3000, 0x4000), stop(4))
    for mode in ("partial", "full"):
        for itype in (12, 13):
            encodes(f"{mode}: {itype} elsewhere", f"--implicit-return {mode}", [block(0x1000, 8), block(0x2000, itype), block(0x1008)],
                    begin(), jumped(2, 0x1000, 0x2000), jumped(2, 0x2000, 0x1008), stop(2))
    encodes("off", "--implicit-return off", [block(0x1000, 8), block(0x2000, 13), block(0x1004)],
            begin(), jumped(2, 0x1000, 0x2000), jumped(2, 0x2000, 0x1004), stop(2))


@case("layouts: NT-004, NT-005, NT-051, NT-052, NT-060, NT-062, NT-063, NT-071, NT-072, NT-091, NT-110, NT-114, NT-117 to NT-119, NT-121, "
      "NT-126 to NT-128, NT-130, NT-144, NT-152, NT-157, NT-163, NT-172, NT-176, NT-177, NT-179, NT-180, NT-182, NT-186, NT-187, NT-190, NT-193, NT-195, NT-196, "
      "NT-188, NT-198, NT-215, NT-224, NT-281, NT-316")
def layouts():
    loop = [block(0x1000, 5, time=n) for n in range(4)]
    encodes("DirectBranch, RepeatBranch, times", "--mode btm --repeated-history --timestamps", [*loop, block(0x1000, time=9)],
            begin(TSTAMP=0), (DIRECT, {"ICNT": 2, "TSTAMP": 0}), (REPEAT, {"BCNT": 3, "TSTAMP": 3}), stop(2, htm=False, TSTAMP=6))
    branches = [block(0x1004 if n % 3 == 1 else 0x1000, 5 if n % 3 else 4) for n in range(9)]
    encodes("ResourceFull", "--mode htm --hist-bits 4 --icnt-bits 3", [*branches, block(0x1000)],
            begin(), (RESOURCE, {"RCODE": 0, "RDATA0": 6}), (RESOURCE, {"RCODE": 1, "RDATA0": 0b1011}), (RESOURCE, {"RCODE": 0, "RDATA0": 6}),
            (RESOURCE, {"RCODE": 1, "RDATA0": 0b1011}), (RESOURCE, {"RCODE": 0, "RDATA0": 6}), stop(2, 0b1011))
    encodes("HREPEAT", "--mode htm --hist-bits 4 --repeated-history --history-repeats whole", [*branches, block(0x1000)],
            begin(), (RESOURCE, {"RCODE": 2, "RDATA0": 0b1011, "RDATA1": 2}), stop(20, 0b1011))
    encodes("Ownership", "--context=hcontext", [block(0x1000, scontext=0x1d, hcontext=3), block(0x1004, priv=1, scontext=0x1d, hcontext=3)],
            begin(), (OWNERSHIP, {"PROCESS": 3 | 3 << 2 | 3 << 5}), (OWNERSHIP, {"PROCESS": 2 | 3 << 2 | 0x1d << 5}), (OWNERSHIP, {"PROCESS": 1 << 2}), stop(4))
    for mode, itype, before, tcode, fields in (
            ("btm", 5, 0, DIRECT_SYNC, {}), ("btm", 10, 0, INDIRECT_SYNC, {"BTYPE": 0}), ("htm", 10, 0, INDIRECT_SYNC, {"BTYPE": 0}),
            ("htm", 2, 4, HISTORY_SYNC, {"BTYPE": 3, "HIST": 2}), ("htm", 10, 5, HISTORY_SYNC, {"BTYPE": 0, "HIST": 3})):
        rows = [block(0x1000, before, 20), block(0x1028, itype), block(0xffffffffffff0000)]
        encodes(f"{mode}: sync with itype {itype}", f"--mode {mode} --sync-mode halfwords --sync-max 0", rows,
                begin(), (tcode, {"SYNC": 2, "ICNT": 22, "FADDR": 0x7fffffffffff8000, **fields}), stop(2, htm=mode == "htm"))
    jumps = [block(0x1000, 10), block(0x2000, 10), block(0x1000)]
    for options in ("", "--src-bits 12 --src-id 2741 --inhibit-src"):
        encodes(f"no SRC {options}", options, jumps, begin(), jumped(2, 0x1000, 0x2000), jumped(2, 0x2000, 0x1000), stop(2), src=None)
    encodes("the lowest and the highest SRC", "", jumps, begin(), jumped(2, 0x1000, 0x2000), jumped(2, 0x2000, 0x1000), stop(2), src=0)
    encodes("the lowest and the highest SRC", "", jumps, begin(), jumped(2, 0x1000, 0x2000), jumped(2, 0x2000, 0x1000), stop(2), src=4095)
    pushed = [block(0x1000 * n, 10, time=n) for n in range(1, 60)]
    path = os.path.join(scratch(), "port.csv")
    with open(path, "w", encoding="ascii") as file:
        file.write("\n".join([",".join(COLUMNS), *pushed]) + "\n")
    lossy = subprocess.run([harness.NTRACE, "encode", "--ingress", path, "--src-bits", "12", "--src-id", "2741", "--fifo", "76", "--drain", "1/4"],
                           capture_output=True, timeout=60).stdout
    check(written(2741, (ERROR, {"ETYPE": 0, "ECODE": 4})) in lossy, f"Error: {lossy.hex()}")


main()
