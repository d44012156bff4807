#!/usr/bin/env python3
"""`ntrace run --topology`: programs traced through modelled systems. The content of the sinks must be the execution of the program,
as far as it fits. tests/programs/truth.py shows that a plain `ntrace run` agrees with QEMU; here it is the yardstick.

usage: system.py NTRACE FOLDER      FOLDER holds the programs that tests/programs/build made
"""
import json
import os
import re
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import ROOT, Run, case, check, equal, main, matches, scratch, write
import user_qemu

FOLDER = sys.argv[2]
BARE = 87  # exit status of bare64
SEED = user_qemu.for_ntrace(user_qemu.repeatable())


def encoder(hart, to, **more):
    return {"name": f"te{hart}", "type": "encoder", "base": 0x1000 * hart, "hart": hart, "to": to, **more}


def component(name, kind, number, **more):
    return {"name": name, "type": kind, "base": 0x100000 + 0x1000 * number, **more}


def through(components, program, *options, status=0):
    """Run a program through a system; the run, and its bundle."""
    topology = write("system.json", json.dumps({"components": components}).encode())
    bundle = os.path.join(scratch(), "s.ntrace")
    return run(program, bundle, "--topology", topology, *options, status=status), bundle


def run(program, bundle, *options, status=0):
    return Run("run", *SEED, *options, "-o", bundle, "--", os.path.join(FOLDER, program), status=status)


def plain(program, status=0):
    bundle = os.path.join(scratch(), "plain.ntrace")
    if not os.path.exists(bundle + program):
        run(program, bundle + program, status=status)
    return pcs_of(bundle + program)[0]


def pcs_of(bundle, *options, status=0):
    decoded = Run("decode", bundle, "--show", "pc", *options, status=status)
    return [int(line, 16) for line in decoded.lines()], decoded.err


def own_code(program, pcs):
    """The instructions executed in `work` and `main`: how often the C library waits for other threads differs between runs."""
    listed = subprocess.run(["riscv64-linux-gnu-nm", "-S", os.path.join(FOLDER, program)], capture_output=True, text=True)
    rows = [line.split() for line in listed.stdout.split("\n") if line.endswith((" work", " main"))]
    ranges = [(int(row[0], 16), int(row[0], 16) + int(row[1], 16)) for row in rows]
    check(len(ranges) == 2, "two functions")
    return [pc for pc in pcs if any(low <= pc < high for low, high in ranges)]


def sizes_of(program):
    """Halfwords of each instruction, by address."""
    listed = subprocess.run(["riscv64-linux-gnu-objdump", "-d", os.path.join(FOLDER, program)], capture_output=True, text=True)
    return {int(at, 16): len(code) // 4 for at, code in re.findall(r"^ +([0-9a-f]+):\t([0-9a-f]+) ", listed.stdout, re.M)}


def losses_of(bundle):
    with open(os.path.join(bundle, "capture.json")) as file:
        return [loss["what"] for loss in json.load(file).get("losses", [])]


@case("one hart, one large buffer: the whole execution")
def whole():
    for mode in 3, 6:
        _, bundle = through([encoder(0, "ram", set={"trTeInstMode": mode}), component("ram", "ram", 0, sram=1 << 22)], "algorithms")
        equal(pcs_of(bundle)[0], plain("algorithms"), f"instructions in mode {mode}")
        equal(losses_of(bundle), [], "losses")


@case("an encoder that counts calls: without a loss, every instruction; returns that do not go behind a call may be one")
def counted():
    for program, status, wrong in ("bare64", BARE, False), ("algorithms", 0, True), ("signals", 0, True), ("escapes", 0, True):  # the second one calls longjmp
        for mode in 1, 3:
            registers = {"trTeInstEnImplicitReturn": 1, "trTeInstImplicitReturnMode": mode}
            _, bundle = through([encoder(0, "ram", set=registers, implicit_return=[0, 1, 3]),
                                 component("ram", "ram", 0, sram=1 << 22)], program, status=status)
            lost = [re.sub(r"[0-9]+", "N", line)[:44] for line in losses_of(bundle)]
            check(not lost or (wrong and mode == 1 and lost == ["teN: N returns did not go behind their calls"]), f"losses: {lost}")
            equal(pcs_of(bundle, status=None)[0] == plain(program, status), not lost, f"the instructions of {program} in mode {mode}")


@case("threads through a funnel: the own code of every hart, in one stream")
def threads():
    system = [encoder(0, "f"), encoder(1, "f"), component("f", "funnel", 0, to="ram"), component("ram", "ram", 1, sram=1 << 20)]
    _, bundle = through(system, "threads")
    direct = os.path.join(scratch(), "direct.ntrace")
    run("threads", direct)
    for hart in 0, 1:
        expected = own_code("threads", pcs_of(direct, "--src", hart)[0])
        check(len(expected) > 10, f"hart {hart} does something")
        equal(own_code("threads", pcs_of(bundle, "--src", hart)[0]), expected, f"hart {hart}")


@case("a hart without encoder is reported, and the others are traced")
def untraced():
    done, bundle = through([encoder(0, "ram"), component("ram", "ram", 0, sram=1 << 20)], "threads")
    matches("more threads than the system has encoders", done.err, "note")
    check(len(own_code("threads", pcs_of(bundle)[0])) > 10, "hart 0 is traced")


@case("a buffer that wrapped: the end of the execution, from the first synchronizing message on")
def wrapped():
    expected = plain("algorithms")
    found_before = 0
    for size in 256, 1024, 4096, 16384:
        set_sync = {"trTeInstSyncMode": 3, "trTeInstSyncMax": 3}
        _, bundle = through([encoder(0, "ram", set=set_sync), component("ram", "ram", 0, sram=size)], "algorithms")
        found, _ = pcs_of(bundle, status=None)
        equal(losses_of(bundle), [f"ram: wrapped; it holds the last {size} bytes"], "losses")
        check(os.path.getsize(os.path.join(bundle, "trace.nex")) > size - 76, "all of the buffer but a cut message")
        findings = Run("check", "--format", "jsonl", bundle).rows()
        check(all(row.get("severity", "note") == "note" for row in findings), f"a trace that begins in the middle has no error: {findings}")
        check(len(found) > found_before, f"{size} bytes hold more than fewer do")
        equal(found, expected[-len(found):], f"instructions in {size} bytes")
        found_before = len(found)


@case("stop on wrap: the beginning in complete messages, and the loss is reported")
def stopped():
    expected = plain("algorithms")
    _, bundle = through([encoder(0, "ram"), component("ram", "ram", 0, sram=1024, set={"trRamStopOnWrap": 1})], "algorithms")
    found, _ = pcs_of(bundle, status=None)
    check(len(found) > 100, "something")
    equal(found, expected[:len(found)], "instructions")
    equal(Run("dump", bundle, status=None).err.count("defect"), 0, "defects")
    check(any("ram" in loss or "te0" in loss for loss in losses_of(bundle)), f"losses: {losses_of(bundle)}")


@case("a buffer that is too small: gaps, and exactly the instructions that the encoder counts are missing")
def overflow():
    expected, sizes = plain("algorithms"), sizes_of("algorithms")
    lost_before = 0
    for cycles, mode in (2, 3), (4, 3), (8, 6), (12, 3), (20, 3), (20, 6), (100, 3), (100, 6):
        slow = encoder(0, "ram", fifo=160, fifo_restart=40, rate=1, rate_cycles=cycles, set={"trTeInstMode": mode})
        _, bundle = through([slow, component("ram", "ram", 0, sram=1 << 22)], "algorithms")
        found, _ = pcs_of(bundle, status=None)
        rest = iter(expected)
        check(all(pc in rest for pc in found), "in order")
        lost = sum(map(sizes.get, expected)) - sum(map(sizes.get, found))
        reported = sum(int(n) for n in re.findall(r"(\d+) halfwords", " ".join(losses_of(bundle))))
        if mode == 3:
            equal(lost, reported, f"halfwords lost, 1 byte in {cycles} cycles")
            check(lost > lost_before, "slower loses more")
            lost_before = lost
        else:  # history that was sent in time is walked, although the I-CNT after it is lost
            check(reported - 20000 < lost <= reported, f"{lost} halfwords lost of {reported}, 1 byte in {cycles} cycles")


@case("a hart that stalls loses nothing")
def stalled():
    slow = {"fifo": 160, "rate": 1, "rate_cycles": 10}
    for at_encoder, at_sink in (slow, {}), ({"fifo": 160}, slow):
        system = [encoder(0, "ram", set={"trTeInstStallEna": 1}, **at_encoder), component("ram", "ram", 0, sram=1 << 22, **at_sink)]
        _, bundle = through(system, "algorithms")
        equal(pcs_of(bundle)[0], plain("algorithms"), "instructions")


@case("a hart that stalls at a stopped sink is reported, not waited for")
def stalled_for_good():
    stuck = [encoder(0, "ram", set={"trTeInstStallEna": 1}), component("ram", "ram", 0, sram=256, set={"trRamStopOnWrap": 1})]
    done, bundle = through(stuck, "algorithms", status=2)
    matches("hart 0 stays stalled: nothing takes its trace", done.err, "message")


@case("pins, the ATB and system memory as sinks")
def sinks():
    for sink in (component("s", "pib", 0), component("s", "atb", 0),
                 component("s", "ram", 0, sram=0, smem=True, address_bits=40, limit_fixed=False)):
        _, bundle = through([encoder(0, "s", set={"trTeInstStallEna": 1}), sink], "bare64", status=BARE)
        equal(pcs_of(bundle)[0], plain("bare64", status=BARE), f"instructions at the {sink['type']} sink")
        equal(losses_of(bundle), [], "losses")


@case("several sinks: their streams one after another, or one of them")
def several():
    system = [encoder(0, "a"), encoder(1, "b"), component("a", "ram", 0, sram=512), component("b", "ram", 1, sram=1 << 20)]
    _, bundle = through(system, "threads")
    check(len(own_code("threads", pcs_of(bundle, "--src", 1, status=None)[0])) > 1000, "hart 1 is whole")
    check(pcs_of(bundle, "--src", 0, status=None)[0], "hart 0 is there")
    _, bundle = through(system, "threads", "--sink", "b")
    nothing = Run("decode", bundle, "--show", "pc", "--src", 0, status=1)
    equal(nothing.lines(), [], "hart 0 is not in b")
    check("nothing is selected by --src 0" in nothing.err, "and this is said")
    check(len(own_code("threads", pcs_of(bundle, "--src", 1)[0])) > 1000, "hart 1 is in b")


@case("a message cut by a full buffer does not damage the stream of another sink")
def cut():
    for size in 64, 128, 256:
        full = component("a", "ram", 0, sram=size, set={"trRamStopOnWrap": 1})
        _, bundle = through([encoder(0, "a"), encoder(1, "b"), full, component("b", "ram", 1, sram=1 << 20)], "threads")
        found, reported = pcs_of(bundle, "--src", 1, status=None)
        check(len(own_code("threads", found)) > 1000, "hart 1 is whole")
        check(not re.search("defect|field|message is", reported), f"no defects: {reported}")


@case("timestamps are from the system's clock, which all harts share")
def time():
    on = {"trTsActive": 1, "trTsCount": 1, "trTsEnable": 1}
    for mode, prescale, tick in (2, 0, "cycle"), (2, 2, "16 cycles"), (1, 0, "cycle"):
        on.update(trTsMode=mode, trTsPrescale=prescale)
        system = [encoder(0, "f", preset="maximal", set=on), encoder(1, "f", preset="maximal", set=on),
                  component("f", "funnel", 0, to="ram"), component("ram", "ram", 1, sram=1 << 20)]
        _, bundle = through(system, "threads")
        with open(os.path.join(bundle, "capture.json")) as file:
            equal(json.load(file)["tick"], tick, "tick")
        instructions = sum(len(pcs_of(bundle, "--src", hart)[0]) for hart in (0, 1))
        rows = [json.loads(line) for line in Run("decode", bundle, "--show", "event").lines()]
        times = [row["time"] for row in rows if row.get("kind") == "sync" and "time" in row]
        check(len(times) > 5 and times == sorted(times), f"times go on: {times[:20]}")
        check(0.9 * instructions < times[-1] << 2 * prescale <= instructions, f"{times[-1]} for {instructions} instructions")


@case("an unsuitable topology is refused with the reason, before the program runs")
def refused():
    ram, pib = component("ram", "ram", 0), component("pib", "pib", 1)
    for components, options, pattern in (
            ([encoder(0, ["ram", "pib"]), ram, pib], [], r"te0: its trace goes to 2 sinks; choose one of them with --sink"),
            ([encoder(0, "ram"), ram], ["--sink", "pib"], r"--sink: expected the name of a sink .* found 'pib'"),
            ([encoder(0, "ram"), ram], ["--best"], r"--best: not allowed with --topology"),
            ([encoder(0, "ram", xlen=32), ram], [], r'te0: expected "xlen": 64 as in the program, found 32'),
            ([encoder(0, "ram", rat=1), ram], [], r"system.json: components\[0\].rat"),
            ([encoder(0, "ram", set={"trTeInstMode": 5}), ram], [], r"system.json: te0: trTeInstMode rejects the value 5"),
            ([encoder(0, "ram", set={"trTeSrcBits": 1}), encoder(1, "ram2", set={"trTeSrcBits": 1, "trTeSrcID": 0}), ram,
              component("ram2", "ram", 2)], [], r"te1: its source ID is that of another encoder"),
            ([encoder(0, "ram"), encoder(1, "ram2", set={"trTeInstExtendAddrMSB": 1}), ram, component("ram2", "ram", 2)], [],
             r"te1: it is configured otherwise"),
            ([ram], [], r"no encoder that leads to a sink")):
        done, bundle = through(components, "algorithms", *options, status=2)
        matches(pattern, done.err, "message")
        equal(done.out, "", "output of the program")
    equal(Run("run", "--sink", "a", os.path.join(FOLDER, "bare64"), status=2).err.strip(), "ntrace run: --sink requires --topology", "message")


@case("code that changes while it runs: each version is in the bundle, and every instruction is decoded")
def rewritten():
    _, bundle = through([encoder(0, "ram"), component("ram", "ram", 0, sram=1 << 20)], "selfmade")
    equal(pcs_of(bundle)[0], plain("selfmade"), "instructions")
    equal(losses_of(bundle), [], "losses")


@case("SpacemiT K3, whose sink is an ETR: the whole execution; a buffer that wraps holds its end; scatter-gather; no buffer")
def k3():
    with open(os.path.join(ROOT, "examples/board/spacemit-k3.json"), encoding="utf-8") as file:
        chip = json.load(file)["components"]
    etr = next(one for one in chip if one["name"] == "etr")
    said = through(chip, "bare64", status=2)[0].err
    matches('etr stores trace in system memory: give it "smem_start" and "smem_size"', said, "what is said")
    everything = plain("bare64", status=BARE)
    etr |= {"smem_start": "0x170000000", "smem_size": 1 << 20}
    for more in {}, {"set": {"tmcAxiScatterGather": 1}}:
        _, bundle = through([*(one for one in chip if one is not etr), etr | more], "bare64", status=BARE)
        equal(pcs_of(bundle)[0], everything, "instructions")
        equal(losses_of(bundle), [], "losses")
    etr["smem_size"] = 512
    through(chip, "bare64", status=BARE)
    found, said = pcs_of(bundle, status=1)
    check(0 < len(found) < len(everything), f"{len(found)} of {len(everything)} instructions")
    equal(found, everything[-len(found):], "instructions")
    matches("etr: wrapped; it holds the last", "\n".join(losses_of(bundle)), "losses")


main()
