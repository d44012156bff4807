#!/usr/bin/env python3
"""Faults of trace hardware and of connections, over each kind of connection: each has its sentence and exit status, nothing stays enabled.

faults_target.py NTRACE [every]: with "every", connections fail at each request, not only at some, and each fault of the hardware is
looked at over each kind of connection, not one of them.

Captures run side by side. A case that fails is run again, by itself and with long time limits: what a busy machine causes does not happen
twice.
"""
import json
import os
import re
import shutil
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

sys.path.append(os.path.join(sys.path[0], ".."))
from board_memory import Memory
from boards import Board, program, topology
from harness import NTRACE, ROOT, Run, case, check, main, need, scratch, write
from link_kinds import KINDS, Gdb, Helper, HidingGdb, Tcl
from links import DIES, ENDS, INTERRUPTS, STALLS, Relay

TE0, TE1, FUNNEL, SINK = 0x10000000, 0x10001000, 0x10010000, 0x10020000
TWO = """{"components": [
  {"name": "te0", "type": "encoder", "base": "0x10000000", "hart": 0, "to": "funnel:0"},
  {"name": "te1", "type": "encoder", "base": "0x10001000", "hart": 1, "to": "funnel:1"},
  {"name": "funnel", "type": "funnel", "base": "0x10010000", "to": "ram"},
  {"name": "ram", "type": "ram", "base": "0x10020000", "sram": 16384}]}"""
SMALL = """{"components": [
  {"name": "te0", "type": "encoder", "base": "0x10000000", "hart": 0, "to": "funnel:0"},
  {"name": "funnel", "type": "funnel", "base": "0x10010000", "to": "ram"},
  {"name": "ram", "type": "ram", "base": "0x10020000", "sram": 64}]}"""
EVERY = "every" in sys.argv
WORKERS, SHORT, LONG = 8, 400, 5000  # threads; time limits in milliseconds
LOCAL, FILES, WRITTEN = threading.local(), threading.Lock(), {}


def page(base, **more):
    return dict({"from": base, "to": base + 0xfff}, **more)


def control(base, **more):
    return dict({"from": base}, **more)


def impl(base, **more):
    return dict({"from": base + 4}, **more)


# Name, rules, further options, exit status, sentences. {reason}: what the connection says.
FAULTS = [
    ("access error", [page(SINK, error="sysbus=failed")], [], 2,
     [r"ram at 0x10020000: (read|write) of trRamControl failed \({reason}\): is this its base\?"]),
    ("open bus", [page(SINK, **{"or": 0xffffffff})], [], 2,
     ["ram at 0x10020000: reads 0xffffffff everywhere in its page: no component, or its power domain is off"]),
    ("open bus in place of an encoder: nothing else is said", [page(TE1, **{"or": 0xffffffff})], [], 2,
     [r"\A(ntrace capture: te1 at 0x10001000: reads 0xffffffff everywhere in its page: no component[^\n]*\n?)+\Z"]),
    ("powered down, a pattern", [page(TE0, **{"and": 0, "or": 0xdeadbeef})], [], 2, ["te0 at 0x10000000: reads 0xdeadbeef everywhere"]),
    ("clock gated", [control(TE1, **{"and": 0xfffffffe})], ["--timeout"], 2,
     [r"te1 at 0x10001000: trTeActive does not become 1 \(0x[0-9a-f]{8} after {timeout} ms\): clock gated or powered down\?"]),
    ("bases swapped", [impl(TE0, **{"and": 0xfffff0ff, "or": 0x800})], [], 2,
     [r"te0 at 0x10000000: type 8 \(funnel\), expected 1 \(encoder\): check the topology; this base would fit funnel"]),
    ("before ratification", [impl(TE0, **{"and": 0xfffffff0})], [], 2, [r"te0 at 0x10000000: version 0\.0 .*--dialect"]),
    ("a later version", [impl(TE0, **{"or": 2})], [], 2, [r"te0 at 0x10000000: version 3\.0 .*not compatible with 1\.0"]),
    ("version 1.15", [impl(TE0, **{"or": 0xf0})], [], 0, ["te0 at 0x10000000: version 1.15 is experimental"]),
    ("read-only path", [page(TE0, deaf=True, **{"and": 0xffffff8f})], [], 2,
     ["te0 at 0x10000000: trTeInstMode stays 0 after 3 and 6: writes have no effect"]),
    ("contradictory buffer", [control(SINK, **{"and": 0xfffffffd})], ["--timeout"], 2,
     ["ram at 0x10020000: trRamEnable stays 0: Start 0x0 Limit 0x3ffc"]),
    ("not empty", [dict(control(FUNNEL, **{"and": 0xfffffff7}), later=True)], ["--timeout"], 1,
     ["funnel at 0x10010000: trFunnelEmpty stays 0 for {timeout} ms while ram has Enable=[01]: data cannot leave"]),
    ("nothing stored", [], ["--set", "funnel.trFunnelDisInput=3"], 2,
     ["nothing was stored", "funnel at 0x10010000: trFunnelDisInput 0x3, trFunnelEmpty 1: inputs are disabled",
      "te0 at 0x10000000: trTeInstMode 6, trTeInstFilters 0x0, trTeEmpty 1"]),
    ("no message", [dict(control(SINK + 0x40), **{"or": 0xffffffff})], [], 1, ["the buffer holds no message"]),
    ("no message, zeros", [dict(control(SINK + 0x40), **{"and": 0})], [], 1, ["the buffer holds no message"]),
    ("another image", [page(0x80000000, **{"or": 0x80})], [], 1,
     ["the image differs from the memory of the target at 0x80000008: 0x13 in the file, 0x93 there"]),
    ("a trigger", [dict(control(TE0, **{"and": 0xfffffffb}), later=True), dict(control(TE1, **{"and": 0xfffffffb}), later=True)], [], 0,
     ["te0 at 0x10000000: trTeInstTracing became 0 by itself .*a trigger ended the trace"]),
    ("overflow", [dict(control(TE0, **{"or": 1 << 12}))], [], 1, ["te0 at 0x10000000: lost trace or stalled its hart.*try --mode htm"]),
    ("same sources", [], ["--set", "te0.trTeSrcID=1"], 2,
     ["te0 at 0x10000000: its messages cannot be told from those of te1: trTeSrcBits 1 and 1, trTeSrcID 1 and 1"]),
    ("no source bits", [], ["--set", "te0.trTeSrcBits=0", "--set", "te1.trTeSrcBits=0"], 2,
     ["te0 at 0x10000000: its messages cannot be told from those of te1: trTeSrcBits 0 and 0"]),
]
REASONS = {"helper": "sysbus=failed", "OpenOCD": "sysbus=failed", "GDB": "the server says E0E for a (read|write) at 0x10020000"}


def files(text):
    """A program, what it executes, and a topology: written by the first thread that needs them."""
    with FILES:
        if not WRITTEN:
            WRITTEN["program"] = program()[:2]
        if text not in WRITTEN:
            WRITTEN[text] = write(f"topology-{len(WRITTEN)}.json", text.encode())
        return *WRITTEN["program"], WRITTEN[text]


class Place:
    """A board and a connection to it, for one thread after the other."""

    def __init__(self, kind, text, rate, rules=()):
        self.text, (self.elf, pc, self.topology) = text, files(text)
        self.memory = Memory(self.topology, ["-e", self.elf, "--pc", pc, "--rate", rate], rules)
        self.kind, self.link = kind, kind(self.memory)

    def capture(self, *options, **how):
        """Returns status, errors, and whether there is a bundle."""
        bundle = os.path.join(scratch(), f"fault-{threading.get_ident()}.ntrace")
        shutil.rmtree(bundle, ignore_errors=True)
        if self.link.closed:
            self.link = self.kind(self.memory)
        self.memory.traces = False
        status, text = self.link.run(["capture", "-o", bundle, "-e", self.elf, "-t", self.topology, *options], **how)
        return status, text, os.path.exists(os.path.join(bundle, "capture.json"))

    def enabled(self):
        return [base for base in (TE0, TE1, FUNNEL, SINK) if f"{base:#x}" in self.text and self.memory.plain(base) & 2]

    def end(self):
        self.link.close()
        self.memory.end()


def each(tasks, attempt):
    """attempt(task, timeout) returns what is wrong, or nothing. All at once; then again what was wrong, one by one."""
    with ThreadPoolExecutor(WORKERS) as pool:
        found = list(pool.map(lambda task: attempt(task, SHORT), tasks))
    wrong = [attempt(task, LONG) for task, text in zip(tasks, found) if text][:4]
    check(not any(wrong), "\n# ".join(text for text in wrong if text))


def fault(task, timeout):
    kind, (name, rules, options, status, sentences) = task
    place = Place(KINDS[kind], TWO, "20", rules)
    try:
        given = [word for option in options for word in ([option, timeout] if option == "--timeout" else [option])]
        found, text, kept = place.capture("--for", "100ms", *given)
        words = {"{reason}": REASONS[kind], "{timeout}": str(timeout)}
        for one in sentences:
            for mark, word in words.items():
                one = one.replace(mark, word)
            if not re.search(one, text):
                return f"{name} over {kind}: expected {one!r}, found {text!r}"
        if found != status or kept != (status < 2) or place.enabled():
            return f"{name} over {kind}: status {found}, enabled {place.enabled()}, bundle {kept}: {text}"
    finally:
        place.end()
    return None


def said_by_kind(one):
    """Whether the sentence has words of the connection."""
    return any("{reason}" in sentence for sentence in one[-1])


for each_kind in KINDS:
    @case(f"{each_kind}: {'every fault' if EVERY else 'a third of the faults'} of the hardware: sentence and exit status; nothing stays enabled")
    def _(kind=each_kind):
        need("bash")
        each([(kind, one) for at, one in enumerate(FAULTS) if EVERY or at % len(KINDS) == list(KINDS).index(kind) or said_by_kind(one)], fault)


def hidden(_task, timeout):
    place = Place(HidingGdb, TWO, "50", [page(SINK, error="no")])
    try:
        status, text, kept = place.capture("--for", "20ms", "--timeout", timeout)
        sentence = "ram at 0x10020000: reads 0: OpenOCD reports failed reads as 0 unless gdb_report_data_abort is enabled"
        good = status == 2 and not kept and not place.enabled() and sentence in text
        return None if good else f"status {status}, enabled {place.enabled()}: {text}"
    finally:
        place.end()


@case("a GDB server that answers failed reads with zeros: the sentence names the reason")
def _():
    each([None], hidden)


# ---- topologies of boards


@case("the topologies of examples/board: a board of each agrees with it; its versions are refused, or taken, as docs/boards.md says")
def _():
    folder = os.path.join(ROOT, "examples/board")
    texts = {name: open(os.path.join(folder, name), encoding="utf-8").read() for name in sorted(os.listdir(folder)) if name.endswith(".json")}
    check(len(texts) == 5, f"topologies: {list(texts)}")
    for name, text in texts.items():
        elf, pc, path = files(text)
        Run("probe", "-t", path, "--exec", f"{NTRACE} board {path} --stdio")
        bases = {one["name"]: int(one["base"], 16) for one in json.loads(text)["components"] if one["type"] not in ("csfunnel", "etf", "etr")}
        version = {"eic7700x.json": 0, "microblaze-v.json": 5}.get(name, 1)
        given = ["--buffer", "0x90000000:0x100000"] if name in ("eic7700x.json", "spacemit-k3.json", "tt-dfd.json") else []
        memory = Memory(path, ["-e", elf, "--pc", pc, "--rate", "20", *(["--ram", "0x90000000:0x100000"] if given else [])],
                        [impl(base, **{"and": 0xfffffff0, "or": version}) for base in bases.values()])
        link = Helper(memory)
        try:
            for more, status in ([], 0 if version == 1 else 2), (["--any-version"], 0):
                bundle = os.path.join(scratch(), "example.ntrace")
                shutil.rmtree(bundle, ignore_errors=True)
                found, text = link.run(["capture", "-o", bundle, "-e", elf, "-t", path, "--for", "10ms", *given, *more])
                check(found == status, f"{name} {more}: status {found}: {text}")
                check(status == 0 or f"version {version}.0" in text, text)
        finally:
            link.close()
            memory.end()


# ---- sinks from which the trace leaves while it runs

LEAVES = """{"components": [
  {"name": "te0", "type": "encoder", "base": "0x10000000", "hart": 0, "to": "out"},
  {"name": "out", "type": "%s", "base": "0x10020000"}]}"""


def leaving(task, timeout):
    kind, (rules, options, status, sentence) = task
    elf, pc, path = files(LEAVES % kind)
    memory = Memory(path, ["-e", elf, "--pc", pc, "--rate", "20"], rules)
    link = Helper(memory)
    try:
        found, text = link.run(["capture", "-t", path, "--for", "10ms", "--timeout", timeout, *options])
        left = [base for base in (TE0, SINK) if memory.plain(base) & 2]
        good = found == status and sentence.replace("{timeout}", str(timeout)) in text and not left
        return None if good else f"{kind}: status {found}, enabled {left}, expected {status} and {sentence!r}: {text}"
    finally:
        link.close()
        memory.end()


@case("a PIB sink, an ATB bridge: trace is started and stopped; no bundle; their faults have sentences")
def _():
    tasks = []
    for kind, enable, empty in ("pib", "trPibEnable", "trPibEmpty"), ("atb", "trAtbBridgeEnable", "trAtbBridgeEmpty"):
        tasks += [(kind, one) for one in (
            ([], [], 0, "the trace has left through out: read it at its other end"),
            ([], ["-o", os.path.join(scratch(), "none.ntrace")], 2, "-o: expected a RAM sink, found only out, whose trace another device records; leave out -o to start and stop it"),
            ([], ["--until-full"], 2, "--until-full: expected a RAM sink, found only out"),
            ([control(SINK, **{"and": 0xfffffffd})], [], 2, f"out at 0x10020000: {enable} stays 0"),
            ([dict(control(SINK, **{"and": 0xfffffff7}), later=True)], [], 1, f"out at 0x10020000: {empty} stays 0 for {{timeout}} ms"),
            ([dict(control(TE0, **{"and": 0xfffffff7}), later=True)], [], 1,
             "te0 at 0x10000000: trTeEmpty stays 0 for {timeout} ms while out has Enable=1: data cannot leave"))]
    each(tasks, leaving)


# ---- connections

LOST = "closed the connection|does not answer within|takes no requests|reset by peer|Broken pipe|refused|the connection"


class Places:
    """One place for each thread."""

    def __init__(self, kind):
        self.kind, self.all = kind, []

    def here(self):
        if getattr(LOCAL, "owner", None) is not self:
            LOCAL.owner, LOCAL.place = self, Place(KINDS[self.kind], SMALL, "200")
            self.all.append(LOCAL.place)
        return LOCAL.place

    def end(self):
        for place in self.all:
            place.end()


def lost(places, how):
    """An attempt: the connection fails at one request."""
    def attempt(number, timeout):
        place = places.here()
        limit = ["--timeout", timeout] if how == STALLS else []
        status, text, kept = place.capture("--for", "5ms", *limit, fail_at=number, how=how)
        fine = status in (0, 1, 2) and kept == (status < 2) and (status < 2 or re.search(LOST, text))
        left = [] if how == DIES else place.enabled()
        for base in place.enabled() if how == DIES else ():
            place.memory.ask(f"w {base:#x} 0")
        return None if fine and not left else f"{how} at request {number}: status {status}, enabled {left}, bundle {kept}: {text}"
    return attempt


def interrupted(places):
    """An attempt: Ctrl-C when one request arrives. What was enabled is disabled, and registers are as they were."""
    def attempt(number, _timeout):
        place = places.here()
        odd = {TE0: 1, TE0 + 8: 0x00010000, TE0 + 0x40: 3, FUNNEL: 1, FUNNEL + 8: 2, SINK: 1, SINK + 0x10: 16}
        for address, value in odd.items():
            place.memory.ask(f"w {address:#x} {value:#x}")
        before = [place.memory.plain(address) for address in odd]
        status, text, kept = place.capture("--for", "5ms", "--restore", fail_at=number, how=INTERRUPTS)
        after = [place.memory.plain(address) for address in odd]
        fine = kept == (status < 2) and (status < 2 or "interrupted" in text) and status in (0, 1, 2)
        return None if fine and after == before and not place.enabled() else \
            f"Ctrl-C at request {number}: status {status}, enabled {place.enabled()}, registers {before} then {after}: {text}"
    return attempt


# Each so many requests, beginning with another one for each kind of connection; with "every", each request.
FAILURES = [(ENDS, "ends at any request", 23), (STALLS, "stalls at any request", 29), (DIES, "ends, and nobody takes another one", 37),
            (INTERRUPTS, "is there, but Ctrl-C comes at any request", 29)]

for each_kind in KINDS:
    for each_how, what, step in FAILURES:
        @case(f"{each_kind}: a connection that {what}: the capture ends with its reason, and nothing stays enabled")
        def _(kind=each_kind, how=each_how, step=1 if EVERY else step):
            need("bash")
            places = Places(kind)
            try:
                first = places.here()
                status, text, _kept = first.capture("--for", "5ms", *(["--restore"] if how == INTERRUPTS else []))
                count = first.link.count
                check(status == 1 and 150 < count < 400, f"status {status}, {count} requests: {text}")
                each(range(1 + list(KINDS).index(kind) % step, count, step), interrupted(places) if how == INTERRUPTS else lost(places, how))
            finally:
                places.end()


@case("a hart that OpenOCD has not polled yet, because it has just started, is polled")
def _():
    need("bash")
    place = Place(Tcl, SMALL, "200", [])
    try:
        status, text, kept = place.capture("--for", "5ms", "--resume")
        check(status == 1 and kept and "controls no hart" not in text, f"status {status}, bundle {kept}: {text}")
    finally:
        place.end()


@case("the real OpenOCD: connections to its Tcl port and its GDB port that end or stall, and Ctrl-C; nothing stays enabled")
def _():
    elf, pc, _pcs = program()
    with Board("-e", elf, "--pc", pc, "--rate", "50", text=SMALL) as board:
        here = ["capture", "-o", os.path.join(scratch(), "real.ntrace"), "-e", elf, "-t", topology(SMALL), "--for", "5ms", "--resume"]
        for kind, port in (Tcl, board.port), (Gdb, board.gdb_port):
            link = Relay(kind, port)
            status, text = link.run([*here, "--timeout", 30000])
            count = link.count
            check(status in (0, 1) and count > 150, f"status {status}, {count} requests: {text}")
            failures = list(enumerate([ENDS, INTERRUPTS, STALLS, INTERRUPTS], 1))
            for number, how in failures if EVERY else failures[:2] if kind is Tcl else failures[2:]:
                shutil.rmtree(here[2], ignore_errors=True)
                status, text = link.run([*here, "--timeout", 1500 if how == STALLS else 30000], fail_at=number * count // 5, how=how)
                fine = status in (0, 1) or re.search(LOST if how != INTERRUPTS else "interrupted", text)
                check(fine and os.path.exists(here[2]) == (status < 2), f"{how} at request {number * count // 5}: status {status}: {text}")
                left = [base for base in (TE0, FUNNEL, SINK) if board.ask(f"expr {{[read_memory {base:#x} 32 1 phys] & 2}}") != "0"]
                check(not left, f"{how} at request {number * count // 5}: enabled {left}")
            link.close()


main()
