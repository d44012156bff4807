#!/usr/bin/env python3
"""CoreSight funnel, ETF and ETR of a virtual SpacemiT K3: the real OpenOCD and GDB drive it, and a defect in each component has its sentence.

What is in the buffers is read and taken out of its frames here, by code of its own: it must be the stream of the bundle.
"""
import os
import shutil
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))

from board_memory import Memory
from boards import Board, program
from harness import NTRACE, ROOT, Run, case, check, equal, main, matches, need, scratch, write
from link_kinds import Helper

with open(os.path.join(ROOT, "examples/board/spacemit-k3.json"), encoding="utf-8") as one_file:
    K3 = one_file.read()
ETR, ETF, MAIN, RAM, SIZE = 0xd9044000, 0xd9043000, 0xd9042000, 0x170000000, 0x100000
RSZ, STS, RWP, CTL, DBA, CLAIM = 0x004, 0x00c, 0x018, 0x020, 0x118, 0xfa4


def k3():
    """Its path; it is written once, because a board may be reading it."""
    path = os.path.join(scratch(), "k3.json")
    return path if os.path.exists(path) else write("k3.json", K3.encode())


def board(*harts, rate=400):
    """Arguments of a board whose harts execute the program."""
    elf, pc, _pcs = program()
    return ["-e", elf, "--ram", f"{RAM:#x}:{SIZE:#x}", "--rate", str(rate), *(word for hart in harts for word in ("--pc", f"{hart}={pc}"))]


def out_of_frames(data):
    """{trace ID: bytes} of formatter frames, as Arm describes them; bytes before the first ID are skipped."""
    streams, current = {}, None
    for at in range(0, len(data), 16):
        frame, flags = data[at:at + 16], data[at + 15]
        for i in range(8):
            even, flag = frame[2 * i], flags >> i & 1
            odd = frame[2 * i + 1] if i < 7 else None
            before = current
            if even & 1:
                current = even >> 1
            elif current is not None:
                streams.setdefault(current, bytearray()).append(even | flag)
            if odd is not None:
                owner = before if even & 1 and flag else current
                if owner is not None:
                    streams.setdefault(owner, bytearray()).append(odd)
    streams.pop(0, None)
    return streams


def whole(stream, cut):
    """The messages of a stream; MSEO 3 ends one."""
    ends = [i + 1 for i, byte in enumerate(stream) if byte & 3 == 3]
    if not ends:
        return []
    starts = ([] if cut else [0]) + ends
    return [bytes(stream[a:b]) for a, b in zip(starts, ends if not cut else ends[1:])]


def messages_of(frames, cut):
    """{trace ID: messages}."""
    return {one: whole(stream, cut) for one, stream in out_of_frames(frames).items()}


def by_source(nex):
    """{SRC: messages} of a bundle's stream: SRC is the field of 12 bits after the TCODE."""
    found = {}
    for one in whole(nex, False):
        mdo = sum((byte >> 2) << (6 * i) for i, byte in enumerate(one[:3]))
        found.setdefault(mdo >> 6 & 0xfff, []).append(one)
    return found


class Place:
    """Registers and memory behind OpenOCD."""

    def __init__(self, one):
        self.board = one

    def read(self, address, words=1):
        text = self.board.ask(f"read_memory {address:#x} 32 {words} phys").strip()
        return [int(word, 0) for word in text.split()]

    def memory(self, address, size):
        return b"".join(word.to_bytes(4, "little") for at in range(0, size, 4096)
                        for word in self.read(address + at, min(1024, (size - at) // 4)))

    def pair(self, low, high):
        return self.read(low)[0] | self.read(high)[0] << 32


def stored(place, pages=None):
    """The frames of the ETR's buffer, oldest first, and whether it has wrapped. `pages`: of a table."""
    full, size = place.read(ETR + STS)[0] & 1, place.read(ETR + RSZ)[0] * 4
    base, rwp = place.pair(ETR + DBA, ETR + DBA + 4), place.pair(ETR + RWP, ETR + 0x3c)
    if pages is None:
        at = rwp - base
        data = place.memory(base, size if full else at)
    else:
        data = b"".join(place.memory(page, 4096) for page in pages(place, base))
        at = pages(place, base).index(rwp & ~0xfff) * 4096 + (rwp & 0xfff)
    check(len(data) == size or not full, f"{len(data)} of {size} bytes of the buffer")
    return (data[at:] + data[:at] if full else data[:at]), bool(full)


def table(place, base):
    """The data pages of a scatter-gather table."""
    found, at = [], base
    while True:
        entry = place.read(at)[0]
        page, kind = (entry >> 4) << 12, entry & 3
        if kind == 3:
            at = page
            continue
        check(kind in (1, 2), f"entry {entry:#x} at {at:#x}")
        found.append(page)
        at += 4
        if kind == 1:
            return found


def bundle_of(name):
    path = os.path.join(scratch(), name)
    shutil.rmtree(path, ignore_errors=True)
    return path


def stream_of(bundle):
    with open(os.path.join(bundle, "trace.nex"), "rb") as file:
        return file.read()


def same(bundle, frames, cut, harts):
    """The bundle has the messages of the frames, each hart's in order, and they are what the program executes."""
    ours, theirs = messages_of(frames, cut), by_source(stream_of(bundle))
    equal(sorted(theirs), sorted(harts), "sources")
    for hart in harts:
        equal(theirs[hart], ours[2 * hart + 1], f"messages of hart {hart}")
        check(len(theirs[hart]) > 50, f"only {len(theirs[hart])} messages of hart {hart}")
    _elf, _pc, pcs = program()
    after = {(one, two) for one, two in zip(pcs[1:], pcs[2:] + pcs[1:2])} | {(pcs[0], pcs[1]), (pcs[-1], pcs[0])}
    for hart in harts:
        lines = [int(line, 16) for line in Run("decode", bundle, "--src", hart, "--show", "pc", status=None).lines()]
        check(len(lines) > 150, f"only {len(lines)} program counters of hart {hart}")
        bad = [(hex(a), hex(b)) for a, b in zip(lines, lines[1:]) if (a, b) not in after]
        check(len(bad) <= (1 if cut else 0), f"steps that the program does not make: {bad[:4]}")


def quiet(place):
    """Nothing is enabled or claimed."""
    for base in (ETR, ETF):
        equal(place.read(base + CTL)[0] & 1, 0, f"tmcTraceCaptEn at {base:#x}")
    for base in (ETR, ETF, MAIN):
        equal(place.read(base + CLAIM)[0], 0, f"claim tags at {base:#x}")
    equal(place.read(MAIN)[0] & 0xff, 0, "inputs of the funnel")


@case("real OpenOCD: probe agrees with the topology; --report has the registers")
def _():
    with Board(*board(5), text=K3) as one:
        there = ["-t", k3(), *one.openocd(), "--hart", 5]
        rows = {row["name"]: row for row in Run("probe", *there, "--format", "jsonl").rows()}
        equal(sorted(rows), ["bridge5", "encoder5", "etf", "etr", "funnel1", "main"], "components of hart 5")
        equal([rows[name]["type"] for name in ("main", "etf", "etr")], ["csfunnel", "tmc", "tmc"], "types")
        report = Run("probe", *there, "--report").out
        matches(r"etr at 0xd9044000: CoreSight Trace Memory Controller, csDevType 0x21(?s:.*)registers: .*tmcRamSize=", report, "report")
        quiet(Place(one))


CAPTURES = [
    # name, harts, thousand instructions in a second, options, bytes of the buffer, wraps
    ("flat, not wrapped", [5], 200, [], 0x10000, False),
    ("flat, wrapped", [5], 200, [], 0x1000, True),
    ("two harts of two clusters, wrapped", [1, 5], 20, [], 0x2000, True),
    ("scatter-gather, wrapped", [5], 200, ["--set", "etr.tmcAxiScatterGather=1"], 0x3000, True),
]

for a_name, some_harts, a_rate, some_options, a_size, does_wrap in CAPTURES:
    @case(f"real OpenOCD: {a_name}: the bundle is what the model has stored", long=a_name not in ("flat, wrapped", "scatter-gather, wrapped"))
    def _(rate=a_rate, harts=tuple(some_harts), options=tuple(some_options), size=a_size, wraps=does_wrap):
        elf, _pc, _pcs = program()
        with Board(*board(*harts, rate=rate), text=K3) as one:
            place, bundle = Place(one), bundle_of("x.ntrace")
            common = ["-e", elf, "-t", k3(), *one.openocd(), *(w for h in harts for w in ("--hart", h))]
            run = Run("capture", "-o", bundle, *common, "--buffer", f"{RAM:#x},{size:#x}", "--for", "10ms" if not wraps else "50ms" if rate > 100 else "500ms", *options, status=None)
            check(run.status == int(wraps), run.err)
            check(("wrapped" in run.err) == wraps, run.err)
            frames, full = stored(place, table if options else None)
            equal(full, wraps, "tmcFull")
            same(bundle, frames, full, harts)
            quiet(place)


@case("real OpenOCD: the ETF as sink is read through tmcReadData; the ETR is left alone", long=True)
def _():
    elf, _pc, _pcs = program()
    text = K3.replace('"sram": 65536', '"sram": 1024')
    with Board(*board(5), "--log", os.path.join(scratch(), "log"), text=text) as one:
        bundle = bundle_of("x.ntrace")
        run = Run("capture", "-o", bundle, "-e", elf, "-t", write("small.json", text.encode()), *one.openocd(), "--hart", 5,
                  "--sink", "etf", "--for", "50ms", status=1)
        matches("the sink wrapped", run.err, "losses")
        quiet(Place(one))
    with open(os.path.join(scratch(), "log"), encoding="ascii") as file:
        words = [line.split() for line in file]
    data = [int(word[-1], 16) for word in words if f"{ETF + 0x10:#x}" in word]
    equal(data[256:], [0xffffffff], "the word after the last one")
    same(bundle, b"".join(word.to_bytes(4, "little") for word in data[:256]), True, [5])


@case("real OpenOCD runs the script: the bundle of its words is what the model has stored", long=True)
def _():
    elf, _pc, _pcs = program()
    for options, pages in ([], None), (["--set", "etr.tmcAxiScatterGather=1"], table):
        with Board(*board(5), text=K3) as one:
            script, words, bundle = (os.path.join(scratch(), name) for name in ("capture.tcl", "words.txt", "w.ntrace"))
            shutil.rmtree(bundle, ignore_errors=True)
            common = ["-t", k3(), "--hart", 5, "--buffer", f"{RAM:#x}:0x3000", *options]
            Run("capture", "--script", "openocd", "-o", script, *common, "--for", "50ms")
            with open(script, encoding="utf-8") as file:
                text = file.read().replace("words.txt", words)
            write("capture.tcl", text.encode())
            equal(one.ask(f"catch {{source {script}}} r; set r").strip("\x1a"), "", "what the script says")
            Run("capture", "-o", bundle, "-e", elf, *common, "--words", words, status=1)
            frames, full = stored(Place(one), pages)
            same(bundle, frames, full, [5])
            quiet(Place(one))


@case("real GDB on OpenOCD's server runs the script", long=True)
def _():
    gdb, (elf, _pc, _pcs) = need("gdb-multiarch"), program()
    with Board(*board(5), text=K3) as one:
        script, words, bundle = (os.path.join(scratch(), name) for name in ("capture.gdb", "words.txt", "w.ntrace"))
        shutil.rmtree(bundle, ignore_errors=True)
        common = ["-t", k3(), "--hart", 5, "--buffer", f"{RAM:#x}:0x1000"]
        Run("capture", "--script", "gdb", "-o", script, *common, "--for", "50ms", "--resume")
        with open(script, encoding="utf-8") as file:
            text = file.read().replace("words.txt", words)
        write("capture.gdb", text.encode())
        done = subprocess.run([gdb, "-nx", "-batch", "-ex", "set architecture riscv:rv64", "-ex", f"target remote 127.0.0.1:{one.gdb_port}",
                               "-x", script], capture_output=True, text=True, timeout=100, check=False)
        check(os.path.exists(words), done.stderr + done.stdout)
        run = Run("capture", "-o", bundle, "-e", elf, *common, "--words", words, status=None)
        check(run.status in (0, 1), run.err + done.stderr)
        frames, full = stored(Place(one))
        equal(by_source(stream_of(bundle)), {key // 2: value for key, value in messages_of(frames, full).items()}, "messages")
        quiet(Place(one))


def at(base, offset, **more):
    return dict({"from": base + offset, "to": base + offset}, **more)


DEFECTS = [
    # what is broken, rules of the memory, sentence of `probe`
    ("funnel: another component", [at(MAIN, 0xfcc, **{"and": 0, "or": 0x21})],
     "main at 0xd9042000: csDevType reads 0x21, expected 0x12 .*this base would fit etr"),
    ("funnel: locked", [at(MAIN, 0xfb4, **{"or": 2})], "main at 0xd9042000: csLocked stays 1 after the key"),
    ("funnel: no claim tags", [at(MAIN, 0xfa4, **{"and": 0})], "main at 0xd9042000: csClaimSet does not set the claim tag"),
    ("funnel: claimed by Linux", [at(MAIN, 0xfa4, **{"or": 2})], "main at 0xd9042000: claimed by software of the target"),
    ("funnel: stuck bits", [at(MAIN, 0x000, **{"and": 0xfffff3ff})], "main at 0xd9042000: csFunnelHoldTime keeps 0x3 after 0x7"),
    ("funnel: fewer inputs", [at(MAIN, 0xfc8, **{"and": 0xfffffff0, "or": 4})], "1 abilities differ"),
    ("ETF: built as ETB", [at(ETF, 0xfc8, **{"and": 0xffffff3f})], r"etf at 0xd9043000: csTmcType reads 0 \(ETB"),
    ("ETF: never ready", [at(ETF, STS, **{"and": 0xfffffffb})], "etf at 0xd9043000: tmcReady stays 0 after"),
    ("ETF: no hardware FIFO", [at(ETF, 0x028, **{"and": 0xfffffffd})], "abilities differ"),
    ("ETF: does not stop on a flush", [at(ETF, 0x304, **{"and": 0xffffefff})], "etf at 0xd9043000: tmcStopOnFlush keeps 0x0 after 0x1"),
    ("ETR: stuck address", [at(ETR, DBA, **{"and": 0xbfffffff})], "etr at 0xd9044000: tmcBufferAddressLow keeps 0x1a5a5000 after 0x5a5a5000"),
    ("ETR: addresses of 32 bits", [at(ETR, DBA + 4, **{"and": 0})], "etr at 0xd9044000: tmcBufferAddressHigh keeps 0x0 after 0x1"),
    ("ETR: size is fixed", [at(ETR, RSZ, **{"and": 0})], "etr at 0xd9044000: tmcRamWords keeps 0x0"),
    ("ETR: no access", [{"from": ETR, "to": ETR + 0xfff, "error": "sysbus=failed"}], "etr at 0xd9044000: read of tmcControl failed"),
    ("ETR: nobody there", [{"from": ETR, "to": ETR + 0xfff, "or": 0xffffffff}], "etr at 0xd9044000: reads 0xffffffff everywhere"),
    ("bridge: stuck ID", [{"from": 0xd9015000, "to": 0xd9015fff, "error": "no"}], "bridge5 at 0xd9015000: read of trAtbBridgeControl failed"),
    ("RISC-V funnel: another component", [at(0xd9010000, 4, **{"and": 0xfffff0ff, "or": 0x900})], r"funnel1 at 0xd9010000: type 9 \(ram\)"),
    ("encoder: registers read 0", [{"from": 0xd9014000, "to": 0xd9014fff, "and": 0}], "encoder5 at 0xd9014000: reads 0 everywhere"),
]


@case("a defect in each component is named by probe")
def _():
    memory = Memory(k3(), board(5))
    try:
        for name, rules, sentence in DEFECTS:
            link = Helper(memory)
            memory.rules = rules
            status, text = link.run(["probe", "-t", k3(), "--hart", "5", "--timeout", "300"])
            check(status == 1, f"{name}: status {status}: {text}")
            matches(sentence, text, name)
            link.close()
        memory.rules = []
        link = Helper(memory)
        equal(link.run(["probe", "-t", k3(), "--hart", "5"])[0], 0, "without a defect")
        link.close()
    finally:
        memory.end()


@case("a capture: a flush that does not end, memory that does not answer, a claim of Linux, no buffer, a hart that is not there, CPU idle")
def _():
    elf, _pc, _pcs = program()
    common = ["-t", k3(), "-e", elf, "--exec", " ".join([NTRACE, "board", k3(), "--stdio", *map(str, board(5))]), "--for", "50ms"]
    for options, sentence in (
            (["--hart", 5], "etr at 0xd9044000: stores trace in system memory: give it a buffer"),
            (["--hart", 16, "--buffer", f"{RAM:#x}:0x1000"], "no encoder traces hart 16"),
            (["--hart", 5, "--buffer", f"{RAM:#x}:0x1001"], "--buffer .*multiples of 16"),
            (["--hart", 5, "--buffer", f"{RAM:#x}:0x1000", "--until-full"], "a TMC does not stop when its buffer is full"),
            (["--sink", "main2", "--buffer", f"{RAM:#x}:0x1000"], "no component has the name 'main2'")):
        matches(sentence, Run("capture", "-o", bundle_of("n.ntrace"), *common, *options, status=2).err, str(options))
    run = Run("capture", "-o", bundle_of("n.ntrace"), *common, "--hart", 5, "--buffer", "0x60000000:0x1000", status=2)
    matches(r"etr at 0xd9044000: a write to memory failed \(tmcMemErr\): is the buffer at 0x60000000 memory", run.err, "no memory")
    memory = Memory(k3(), board(5))
    try:
        for rules, status, sentence in (
                ([at(ETR, 0x304, **{"or": 0x40})], 2, "etr at 0xd9044000: tmcFlushMan stays 1 for 300 ms"),
                ([at(ETR, CLAIM, **{"or": 2})], 2, "etr at 0xd9044000: claimed by software of the target, such as Linux.*--running"),
                ([dict(at(0xd9014000, 0, **{"and": 0}), later=True)], None, "encoder5 at 0xd9014000: trTeControl reads 0 .*cpuidle.off=1")):
            memory.rules, memory.traces, link = rules, False, Helper(memory)
            found, text = link.run(["capture", "-o", bundle_of("n.ntrace"), "-e", elf, "-t", k3(), "--hart", "5", "--buffer", f"{RAM:#x}:0x1000",
                                    "--for", "100ms", "--timeout", "300"])
            matches(sentence, text, str(rules))
            check(status is None or found == status or found == 1, f"status {found}: {text}")
            link.close()
    finally:
        memory.end()


main()
