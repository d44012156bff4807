#!/usr/bin/env python3
"""The V modes of the hypervisor extension under `ntrace run --machine`: hyper.S, a hypervisor with two guests, against QEMU's own log
and against a plugin that is called at each instruction. TAP.

usage: hyper.py NTRACE FOLDER PLUGIN SAME     as of machine.py
"""
import collections
import functools
import json
import os
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
import harness
import machine_log
import qemu10
from harness import case, check, equal, scratch
from machine_parts import same

PROGRAM = os.path.join(os.path.abspath(sys.argv[2]), "hyper-64")
PLUGIN, SAME = (os.path.abspath(path) for path in sys.argv[3:5])
QEMU = qemu10.find()
ONE = ["-accel", "tcg,one-insn-per-tb=on"]
REPEATABLE = ["-icount", "shift=3,sleep=off", "-seed", "1", "-rtc", "base=2026-01-01T00:00:00,clock=vm"]


def qemu():
    return os.path.join(QEMU or harness.skip(qemu10.REASON), "qemu-system-riscv64")


def output(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120, check=False)
    equal(done.returncode, 0, f"status of {command[:3]}; {done.stdout[-300:]} {done.stderr[-300:]}")
    return done.stdout


def run(*options, given=(), name="traced"):
    """The bundle."""
    bundle = os.path.join(scratch(), f"{name}.ntrace")
    output(harness.NTRACE, "run", "--machine", "virt", "--cpu", "rv64,h=true", "--qemu", qemu(), "-o", bundle, *options, PROGRAM, "--", *given)
    return bundle


@functools.cache
def truth():
    """(instructions with their modes, traps) as in QEMU's log."""
    log = os.path.join(scratch(), "hyper.log")
    if not os.path.exists(log):
        output(qemu(), "-machine", "virt", "-cpu", "rv64,h=true", "-bios", PROGRAM, "-display", "none", "-serial", "null", *REPEATABLE, *ONE,
               "-d", "exec,nochain,int", "-D", log)
    harts, traps = machine_log.read(log)
    return harts[0], traps[0]


@functools.cache
def repeated(*given):
    """The bundle of the run that many cases look at."""
    return run("--repeatable", given=given, name=f"repeated-{len(given)}")


def instructions(bundle, *more):
    """Address and mode of each one, and further members."""
    text = output(harness.NTRACE, "decode", bundle, "--show", "insn", "--format", "jsonl")
    return machine_log.members("address", "prv", *more)(text.splitlines())


def beside_truth(*options, given=()):
    file = os.path.join(scratch(), "truth.txt")
    bundle = run(*options, given=["-plugin", f"{PLUGIN},out={file}", *given])
    print("# " + output(SAME, bundle, file).strip().replace("\n", "\n# "))
    return bundle


OPTIONS = {"htm": [], "btm": ["--mode", "btm"], "best": ["--best"], "no implicit returns": ["--implicit-return", "off"]}
for word, chosen in OPTIONS.items():
    @case(f"{word}: every instruction and its mode, as in QEMU's log, which has M, S, VS and VU", long=word != "htm")
    def each(chosen=chosen):
        expected = truth()[0]
        same(instructions(run("--repeatable", *chosen, given=ONE) if chosen else repeated(*ONE)), expected)
        counts = {mode: sum(line.endswith(f" {mode}") for line in expected) for mode in ("M", "S", "VS", "VU")}
        check(min(counts.values()) > 100, f"instructions by mode: {counts}")


@case("exceptions and interrupts: as many as in QEMU's log, which go to M, HS and VS mode")
def traps():
    taken = truth()[1]
    found = dict(line.split() for line in output(harness.NTRACE, "decode", repeated(*ONE), "--show", "count").splitlines())
    equal(int(found["interrupts"]), sum(is_interrupt for is_interrupt, _, _ in taken), "interrupts")
    equal(int(found["exceptions"]), sum(not is_interrupt for is_interrupt, _, _ in taken), "exceptions")
    equal({cause for is_interrupt, cause, _ in taken if is_interrupt}, {5, 6, 7}, "timer interrupts of HS, VS and M mode")
    check({2, 3, 8, 10, 13, 15, 21, 22} <= {cause for is_interrupt, cause, _ in taken if not is_interrupt}, "exceptions")


for word, chosen in {"as they come": [], "--repeatable": ["--repeatable"]}.items():
    @case(f"whole blocks, interrupts {word}: every instruction that a plugin saw, and its mode", long=word == "--repeatable")
    def whole(chosen=chosen):
        beside_truth(*chosen)


# A system whose sink holds everything, and one whose sink keeps the last bytes.
SYSTEM = """{"components": [
 {"name": "te", "type": "encoder", "base": "0x10000000", "hart": 0, "to": "funnel", "fifo": 4096, "rate": 16},
 {"name": "funnel", "type": "funnel", "base": "0x10002000", "to": "ram", "rate": 16},
 {"name": "ram", "type": "ram", "base": "0x10001000", "sram": %d}]}"""


def topology(sram):
    path = os.path.join(scratch(), "system.json")
    with open(path, "w", encoding="utf-8") as file:
        file.write(SYSTEM % sram)
    return path


@case("--topology: every instruction, though the guests have other code at the same addresses")
def through_system():
    beside_truth("--repeatable", "--topology", topology(1 << 20))


@case("--topology, a sink that has wrapped: the last instructions, with the code that was valid then")
def wrapped():
    listed = os.path.join(scratch(), "listed.txt")
    bundle = run("--repeatable", "--topology", topology(2048), given=["-plugin", f"{PLUGIN},out={listed}.hashes,list={listed}"])
    done = subprocess.run([harness.NTRACE, "decode", bundle, "--show", "insn", "--format", "jsonl"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, timeout=120, check=False)
    found = machine_log.members("address", "prv")(done.stdout.splitlines())
    with open(listed, encoding="utf-8") as file:
        expected = file.read().splitlines()
    check(10000 < len(found) < len(expected) / 2, f"{len(found)} of {len(expected)} instructions")
    same(found, expected[-len(found):])


# By the program's text: each loop, and how often it is executed. ASIDs of the guests are 1 and 2, as their VMIDs, that of the hypervisor is 7.
# A guest without page tables has ASID 0, like the other; the second one is another address space.
SPACES = {("VS", 0x10000, 1): 3 * 4 * 20000, ("VS", 0x20000, 2): 3 * 4 * 7, ("VS", 1, 1): 1, ("VS", 2, 2): 1,
          ("VU", 1, 1): 3 * 3 * 3 * 3000, ("VU", 2, 2): 3 * 3 * 3 * 5000, ("S", 7, 0): 1, ("S", 0, 0): 1, ("M", 7, 0): 1, ("M", 0, 0): 1}


@case("contexts: those of vsatp and hgatp in the V modes, of satp elsewhere; hcontext is the VMID in the V modes, 0 elsewhere")
def contexts():
    text = output(harness.NTRACE, "profile", "--by", "context", "--format", "jsonl", repeated())
    found = collections.Counter()
    for row in map(named, text.splitlines()):
        found[row["prv"], row["scontext"], row.get("hcontext", 0)] += row["self"]  # hcontext is not sent before the first guest
    equal(set(found), set(SPACES), "modes and contexts")
    for key, count in SPACES.items():
        most = 1.02 * count + 3000 if key[0] != "M" else found[key]  # it ends in a loop of M mode
        check(count <= found[key] <= most, f"{key}: {found[key]} instructions, {count} in its loop")


def named(line):
    row = json.loads(line)
    row["prv"] = ("V" if row.get("v") else "") + {0: "U", 1: "S", 3: "M"}[row["prv"]]
    return row


@case("a program without guests: no message has hcontext")
def without_guests():
    bundle = os.path.join(scratch(), "modes.ntrace")
    output(harness.NTRACE, "run", "--machine", "virt", "--qemu", qemu(), "-o", bundle, os.path.join(os.path.dirname(PROGRAM), "modes-64"))
    contexts = [e for e in map(json.loads, output(harness.NTRACE, "decode", "--show", "event", "--format", "jsonl", bundle).splitlines())
                if e["kind"] == "context"]
    check(len(contexts) > 50 and not any("hcontext" in e for e in contexts), f"{len(contexts)} contexts")


@case("profile --by process: the guests and the hypervisor")
def by_process():
    text = output(harness.NTRACE, "profile", "--by", "process", "--format", "jsonl", repeated())
    found = {(row.get("hcontext"), row.get("scontext")): row["self"] for row in map(json.loads, text.splitlines())}
    equal(set(found), {(None, None), (1, None), (2, None), (1, 1), (2, 2)}, "guests and programs")
    total = sum(count for key, count in SPACES.items() if key[2] == 1)
    ones = found[1, None] + found[1, 1]
    check(total <= ones <= 1.02 * total + 3000, f"{ones} instructions of guest 1, {total} in its loops")


@case("timeline: the guest of each context")
def of_timeline():
    path = os.path.join(scratch(), "timeline")
    output(harness.NTRACE, "timeline", "--to", "perfetto", "-o", path, repeated())
    with open(path, "rb") as file:
        text = file.read()
    for name in b"guest 1: context 0x1", b"guest 2: context 0x2", b"guest 1: context 0x10000", b"guest 2: context 0x20000":
        check(name in text, name.decode())
    check(b"guest 1: context 0x7" not in text and b"guest 1: context 0x2" not in text, "contexts of others")


@case("--filter hcontext=2: every instruction of the second guest, and no other")
def second_guest():
    everything = instructions(repeated(*ONE), "hcontext")
    found = instructions(run("--repeatable", "--filter", "hcontext=2", given=ONE))
    same(found, [line.rsplit(" ", 1)[0] for line in everything if line.endswith(" 0x2")])


@case("interrupts off: as long as sstatus.SIE was 0 in HS mode at each instruction")
def interrupts_off():
    listed = os.path.join(scratch(), "off.txt")
    bundle = run("--repeatable", given=["-plugin", f"{PLUGIN},out={os.path.join(scratch(), 'truth.txt')},off={listed}", *ONE])
    with open(listed, encoding="utf-8") as file:
        expected = [int(line.split()[0]) for line in file][1:]  # what is off before the first instruction that switches it is not known
    rows = map(json.loads, output(harness.NTRACE, "profile", "--by", "syscall", "--format", "jsonl", bundle).splitlines())
    found = next(row for row in rows if row.get("name") == "interrupts of S-mode")
    equal([s["instructions"] for s in found["longest"]], sorted(expected, reverse=True)[:5], "the longest ones")
    equal((found["count"], found["instructions"]["sum"]), (len(expected), sum(expected)), "number and sum")


FILTERS = {"priv=vs+vu": ("VS", "VU"), "priv=vu": ("VU",), "priv=vs": ("VS",), "priv=s": ("S",), "priv=m": ("M",)}
for word, modes in FILTERS.items():
    @case(f"--filter {word}: every instruction in these modes, and no other", long=word not in ("priv=vs+vu", "priv=m"))
    def filtered(word=word, modes=modes):
        expected = [line for line in truth()[0] if line.split()[1] in modes]
        same(instructions(run("--repeatable", "--filter", word, given=ONE)), expected)


harness.main()
