#!/usr/bin/env python3
"""`ntrace run --machine` against QEMU's own log, instruction by instruction and privilege mode by privilege mode. TAP.

usage: machine.py NTRACE FOLDER PLUGIN SAME     FOLDER holds the programs that tests/machine/build made, PLUGIN is each_instruction-4.so, SAME
is same_modes
"""
import functools
import glob
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path.append(os.path.join(sys.path[0], ".."))
import harness
import machine_log
import qemu10
from harness import case, check, equal, same_items, scratch, until
from machine_parts import check_same, in_order, parts, same, traced

PROGRAMS, PLUGIN, SAME = (os.path.abspath(path) for path in sys.argv[2:5])
QEMU = qemu10.find()
ONE = ["-accel", "tcg,one-insn-per-tb=on"]
REPEATABLE = ["-icount", "shift=3,sleep=off", "-seed", "1", "-rtc", "base=2026-01-01T00:00:00,clock=vm"]


def program(name):
    return os.path.join(PROGRAMS, name)


def need_qemu():
    if not QEMU:
        harness.skip(qemu10.REASON)


def run(bits, name, *options, qemu=(), status=0):
    """Trace a program; the bundle."""
    need_qemu()
    bundle = os.path.join(scratch(), "traced.ntrace")
    command = [harness.NTRACE, "run", "--machine", "virt", "--qemu", f"{QEMU}/qemu-system-riscv{bits}", "-o", bundle, *options, program(name)]
    done = subprocess.run([*command, "--", *qemu] if qemu else command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=120)
    equal(done.returncode, status, f"exit status; {done.stderr[-300:]}")
    check("module" not in done.stderr, f"QEMU looks for modules that are not needed: {done.stderr}")
    return bundle


def instructions(bundle, src=0, modes=True):
    done = subprocess.run([harness.NTRACE, "decode", bundle, "--show", "insn", "--format", "jsonl", "--src", str(src)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=120)
    equal(done.returncode, 0, f"status of decode; {done.stderr[-300:]}")
    of = machine_log.members("address", "prv") if modes else machine_log.members("address")
    return of(done.stdout.splitlines())


@functools.cache
def truth(bits, name):
    """What QEMU's log says; the traps of hart 0."""
    need_qemu()
    log = os.path.join(scratch(), f"{name}.log")
    if not os.path.exists(log):
        subprocess.run([f"{QEMU}/qemu-system-riscv{bits}", "-machine", "virt", "-bios", program(name), "-display", "none", "-serial", "null",
                        *REPEATABLE, *ONE, "-d", "exec,nochain,int", "-D", log], stdin=subprocess.DEVNULL, check=True, timeout=120,
                       stderr=subprocess.DEVNULL)
    harts, traps = machine_log.read(log)
    return harts[0], traps[0]


def exact(bits, *options, modes=True, name="modes", qemu=ONE):
    expected, _ = truth(bits, f"{name}-{bits}")
    found = instructions(run(bits, f"{name}-{bits}", "--repeatable", *options, qemu=qemu), modes=modes)
    same(found, expected if modes else [line.split()[0] for line in expected])


OPTIONS = {"htm": [], "btm": ["--mode", "btm"], "best": ["--best"], "timestamps": ["--timestamps"],
           "calls are counted": ["--implicit-return", "count"],
           "no repeats, no implicit returns": ["--no-repeated-history", "--implicit-return", "off"]}
for word, given in OPTIONS.items():
    for width in 64, 32:
        @case(f"RV{width}, {word}: every instruction and its mode, as in QEMU's log", long=(width == 32) == (word != "btm"))
        def each(width=width, given=given):
            exact(width, *given)


# QEMU translates the blocks of a page once, for all addresses at which it is mapped.
for width in 64, 32:
    for word, given in {"single instructions": ONE, "whole blocks": []}.items():
        @case(f"RV{width}, {word}: pages that are mapped at several addresses", long=(width == 32) == bool(given))
        def aliases(width=width, given=given):
            exact(width, name="aliases", qemu=given)


@case("--context none: every instruction")
def without_context():
    exact(64, "--context", "none", modes=False)


@case("--context scontext: every instruction and its mode, the context is 0")
def scontext():
    exact(64, "--context", "scontext")


@case("exceptions and interrupts: as many as in QEMU's log")
def traps():
    _, expected = truth(64, "modes-64")
    bundle = run(64, "modes-64", "--repeatable", qemu=ONE)
    text = subprocess.run([harness.NTRACE, "decode", bundle, "--show", "count"], stdout=subprocess.PIPE, text=True, check=True).stdout
    counts = dict(line.split() for line in text.splitlines())
    equal(int(counts["interrupts"]), sum(is_interrupt for is_interrupt, _, _ in expected), "interrupts")
    equal(int(counts["exceptions"]), sum(not is_interrupt for is_interrupt, _, _ in expected), "exceptions")
    equal(int(counts["gaps"]), 0, "gaps")


def times_of_messages(bundle):
    """For each message: its time, and how many instructions have retired."""
    text = subprocess.run([harness.NTRACE, "decode", bundle, "--show", "event", "--format", "jsonl"], stdout=subprocess.PIPE, text=True,
                          check=True, timeout=120).stdout
    found, count = {}, 0
    for e in map(json.loads, text.splitlines()):
        if e["kind"] == "span":
            count += e["instructions"]
            found[e["message"]] = (e["time"], count)
    return found.values()


EARLY = 10  # ticks of 100 ns: the clock is read every 64 blocks, which are 64 instructions of 8 ns here
for width in 64, 32:
    @case(f"RV{width}, --clock time: timestamps are the CSR time that a plugin read at this instruction, also behind wfi", long=width == 64)
    def clock(width=width):
        read = os.path.join(scratch(), "times.txt")
        bundle = run(width, f"modes-{width}", "--repeatable", "--clock", "time",
                     qemu=["-plugin", f"{PLUGIN},out={os.path.join(scratch(), 'truth.txt')},times={read}", *ONE])
        with open(read, encoding="utf-8") as file:
            times = [int(line) for line in file]
        found = [(time, count) for time, count in times_of_messages(bundle) if count < len(times)]
        check(len(found) > 500 and times[-1] > 10000, f"{len(found)} messages, {times[-1]} ticks")
        for time, count in found:
            check(times[count - 1] - EARLY <= time <= times[count] + 1,
                  f"after {count} instructions: time {time}, the plugin read {times[count - 1]}, then {times[count]}")


def counts(bundle, status=0):
    done = subprocess.run([harness.NTRACE, "decode", bundle, "--show", "count"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=120)
    equal(done.returncode, status, f"status of decode; {done.stderr[-300:]}")
    return {name: int(value) for name, value in (line.split() for line in done.stdout.splitlines())}


@case("interrupts off: as long as sstatus.SIE was 0 at each instruction")
def interrupts_off():
    listed, options = os.path.join(scratch(), "off.txt"), ["-plugin", f"{PLUGIN},out={os.path.join(scratch(), 'truth.txt')},off="]
    bundle = run(64, "modes-64", "--repeatable", qemu=[options[0], options[1] + listed, *ONE])
    with open(listed, encoding="utf-8") as file:
        expected = [int(line.split()[0]) for line in file][1:]  # what is off before the first instruction that switches it is not known
    text = subprocess.run([harness.NTRACE, "profile", "--by", "syscall", "--format", "jsonl", bundle], stdout=subprocess.PIPE, text=True, check=True).stdout
    found = next(row for row in map(json.loads, text.splitlines()) if row.get("name") == "interrupts of S-mode")
    longest = [s["instructions"] for s in found["longest"]]
    equal(longest, sorted(expected, reverse=True)[:5], "the longest ones")
    equal((found["count"], found["instructions"]["sum"]), (len(expected), sum(expected)), "number and sum")


# ---- filters, and a trace system that loses messages


def filtered(*options):
    return instructions(run(64, "modes-64", "--repeatable", *options, qemu=ONE))


KEPT = {"priv=u": lambda at, mode: mode == "U", "priv=s": lambda at, mode: mode == "S", "priv=s+m": lambda at, mode: mode in "SM",
        "addr=0x80000100-0x80000200": lambda at, mode: 0x80000100 <= at <= 0x80000200}
for chosen, keep in KEPT.items():
    @case(f"--filter {chosen}: the instructions of QEMU's log that match, and no others", long=chosen in ("priv=u", "priv=s+m"))
    def kept(chosen=chosen, keep=keep):
        expected = [line for line in truth(64, "modes-64")[0] if keep(int(line.split()[0], 16), line.split()[1])]
        same(filtered("--filter", chosen), expected)


@case("--filter interrupt: each interrupt is there, from the block that it ends to its return")
def interrupts_only():
    expected, taken = truth(64, "modes-64")
    bundle = run(64, "modes-64", "--repeatable", "--filter", "interrupt", qemu=ONE)
    found = parts(bundle)
    in_order(found, expected)
    equal(counts(bundle)["interrupts"], sum(is_interrupt for is_interrupt, _, _ in taken), "interrupts")
    check(traced(found) < len(expected) / 20, f"{traced(found)} of {len(expected)} instructions")


@case("--filter scontext=1: what runs in this address space, from the instruction behind the one that writes satp")
def one_context():
    found, expected = parts(run(64, "modes-64", "--repeatable", "--filter", "scontext=1", qemu=ONE)), truth(64, "modes-64")[0]
    in_order(found, expected)
    names = subprocess.run(["riscv64-linux-gnu-objdump", "-d", program("modes-64")], stdout=subprocess.PIPE, text=True, check=True).stdout
    write = re.search(r"(?m)^ *([0-9a-f]+):.*csrw\tsatp", names)[1]
    equal(int(found[0][0][0], 16), int(write, 16) + 4, "first instruction")
    check(50000 < traced(found), f"{traced(found)} instructions")


SLOW = """{"components": [{"name": "te", "type": "encoder", "base": "0x10000000", "hart": 0, "to": "ram", "fifo": 128, "rate": 1, "rate_cycles": 512},
 {"name": "ram", "type": "ram", "base": "0x10001000", "sram": 1048576}]}"""


WIDE = SLOW.replace('"rate": 1, "rate_cycles": 512', '"rate": 64')
for word, wanted in {"satp": {0, 1, 2}, "scontext": {0}, "none": set()}.items():
    @case(f"--topology, --context {word}: the address spaces in the Ownership messages are {wanted}", long=word == "none")
    def system_context(word=word, wanted=wanted):
        topology = os.path.join(scratch(), "wide.json")
        with open(topology, "w", encoding="utf-8") as file:
            file.write(WIDE)
        bundle = run(64, "modes-64", "--repeatable", "--topology", topology, "--context", word, qemu=ONE)
        text = subprocess.run([harness.NTRACE, "dump", bundle], stdout=subprocess.PIPE, text=True, check=True, timeout=120).stdout
        equal({int(process, 16) >> 5 for process in re.findall(r"Ownership PROCESS=0x(\w+)", text)}, wanted, "contexts")
        if word == "satp":
            same(instructions(bundle), truth(64, "modes-64")[0])


REFUSED_WITH_SYSTEM = {"--context hcontext": ["--context", "hcontext"], "--best": ["--best"]}
for word, given in REFUSED_WITH_SYSTEM.items():
    @case(f"--topology, {word}: refused")
    def system_refuses(given=given):
        topology = os.path.join(scratch(), "wide.json")
        with open(topology, "w", encoding="utf-8") as file:
            file.write(WIDE)
        run(64, "modes-64", "--topology", topology, *given, status=2)


@case("--topology: the buffer overflows; what was traced is what was executed, in order")
def overflow():
    topology = os.path.join(scratch(), "slow.json")
    with open(topology, "w", encoding="utf-8") as file:
        file.write(SLOW)
    bundle = run(64, "modes-64", "--repeatable", "--topology", topology, qemu=ONE)
    found, expected = parts(bundle), truth(64, "modes-64")[0]
    check(counts(bundle, 1)["gaps"] > 3, f"gaps: {counts(bundle, 1)}")
    in_order(found, expected)
    check(len(found) > 3 and traced(found) > 1000, f"{traced(found)} of {len(expected)} instructions in {len(found)} parts")


# ---- whole blocks: a plugin that is called at each instruction of the same run


def beside_truth(bits, name, *options, qemu=(), plugin=""):
    file = os.path.join(scratch(), "truth.txt")
    bundle = run(bits, name, *options, qemu=["-plugin", f"{PLUGIN},out={file}{plugin}", *qemu])
    check_same(SAME, bundle, file)
    return bundle


for width in 64, 32:
    @case(f"RV{width}, whole blocks: every instruction that a plugin saw, with interrupts at any instruction", long=width == 64)
    def whole(width=width):
        beside_truth(width, f"modes-{width}")

    @case(f"RV{width}, whole blocks, --repeatable: devices in the middle of blocks", long=width == 32)
    def whole_repeatable(width=width):
        beside_truth(width, f"modes-{width}", "--repeatable")


TWO_HARTS = """{"components": [
 {"name": "te0", "type": "encoder", "base": "0x10000000", "hart": 0, "to": "funnel", %s},
 {"name": "te1", "type": "encoder", "base": "0x10001000", "hart": 1, "to": "funnel", %s},
 {"name": "funnel", "type": "funnel", "base": "0x10002000", "to": "ram"%s},
 {"name": "ram", "type": "ram", "base": "0x10003000", "sram": 16777216}]}"""


def patches(width, encoder, funnel):
    """Two harts, of which one changes code that the other executes, with these members of both encoders and of the funnel."""
    topology = os.path.join(scratch(), "two.json")
    with open(topology, "w", encoding="utf-8") as file:
        file.write(TWO_HARTS % (*[f'"xlen": {width}, {encoder}'] * 2, funnel))
    return ["--harts", "2", "--topology", topology], f"patches-{width}"


for width in 64, 32:
    @case(f"RV{width}, two harts, code that one changes and both execute: every instruction", long=width == 64)
    def changes(width=width):
        beside_truth(width, f"patches-{width}", "--harts", "2")

    @case(f"RV{width}, the same through buffers in which messages wait: every instruction", long=width == 32)
    def changes_in_buffers(width=width):
        given, name = patches(width, '"fifo": 1048576', ', "rate": 1, "rate_cycles": 8')  # on a busy machine one hart runs far ahead
        beside_truth(width, name, *given)

    for hart in 0, 1:
        @case(f"RV{width}, the same through buffers that overflow: what was traced of hart {hart} is what it executed, in order",
              long=width == 32 or hart == 0)
        def changes_overflow(width=width, hart=hart):
            given, name = patches(width, '"fifo": 128, "rate": 1, "rate_cycles": 64', "")
            listed = os.path.join(scratch(), "listed.txt")
            bundle = run(width, name, *given, qemu=["-plugin", f"{PLUGIN},out={os.path.join(scratch(), 'truth.txt')},list={listed},hart={hart}"])
            found = parts(bundle, hart)
            with open(listed, encoding="utf-8") as file:
                in_order(found, file.read().splitlines())
            check(counts(bundle, 1)["gaps"] > 100, f"gaps: {counts(bundle, 1)}")
            check(len(found) > 1 and traced(found) > 100, f"{traced(found)} instructions in {len(found)} parts")


@case("two repeatable runs are equal")
def repeatable():
    first, second = (instructions(run(64, "modes-64", "--repeatable")) for _ in range(2))
    same(first, second)


# ---- hostile guests


ROOM = 256 << 20  # bytes of a process, which has about 50 MiB with a small program
LOG_ROOM = 40     # MiB of QEMU's log; 64 when no block begins any more, after which the run is ended
ENDLESS = {"hostile-1-64": (["--for", "3s"], LOG_ROOM), "hostile-2-64": (["--for", "500ms"], LOG_ROOM), "hostile-6-64": (["--for", "300ms"], LOG_ROOM),
           "hostile-9-64": ([], 128)}


def most_used(pid):
    """The most memory that the process, or one that it has started, has used so far. Not ru_maxrss: that has what this script used."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            children = file.read().split()
        with open(f"/proc/{pid}/status", encoding="utf-8") as file:
            own = re.search(r"(?m)^VmHWM:\s*(\d+) kB", file.read())
        return max([int(own[1]) << 10 if own else 0, *map(most_used, children)])
    except OSError:  # it has ended
        return 0


def size_of_log(pid):
    """How much memory QEMU's log takes, which is a file in memory."""
    try:
        names = [f"/proc/{pid}/fd/{name}" for name in os.listdir(f"/proc/{pid}/fd")]
        return max((os.stat(name).st_blocks * 512 for name in names if "memfd:ntrace-log" in os.readlink(name)), default=0)
    except OSError:  # it has ended
        return 0


for guest, bounds in ENDLESS.items():
    @case(f"{guest}, which traps, resets or polls without end: the memory of ntrace, of QEMU and of its log is bounded", long="-6-" not in guest)
    def memory(name=guest, given=bounds[0], most=bounds[1]):
        need_qemu()
        log = used = 0
        process = subprocess.Popen([harness.NTRACE, "run", "--machine", "virt", "--qemu", f"{QEMU}/qemu-system-riscv64", "-o",
                                    os.path.join(scratch(), "memory.ntrace"), *given, program(name)],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None:
            time.sleep(0.01)
            log, used = max(log, size_of_log(process.pid)), max(used, most_used(process.pid))
        check(10 << 20 < used < ROOM and log < most << 20, f"{name}: {used >> 20} MiB, log {log >> 20} MiB")
        print(f"# {name}: {used >> 20} MiB, log {log >> 20} MiB")


WAYS = {3: "jumps to devices and to nowhere", 4: "code over code, another instruction at each pass", 5: "a new address space at each instruction",
        10: "instructions that are longer than the hart has"}
for way, what in WAYS.items():
    for width in 64, 32:
        @case(f"RV{width}, hostile guest: {what}", long=(width == 32) == (way < 5))
        def hostile(way=way, width=width):
            beside_truth(width, f"hostile-{way}-{width}")


@case("hostile guest: the first instruction of its trap handler traps; the run is ended after a time")
def trap_loop():
    found = counts(run(64, "hostile-1-64", "--for", "300ms"))
    check(found["instructions"] < 100, f"{found['instructions']} instructions retire")
    check(found["exceptions"] > 1000, "it traps without end")


@case("hostile guest: traps without end fill the log; the run ends by itself, and the bundle says why")
def trap_flood():
    bundle = run(64, "hostile-9-64")
    with open(os.path.join(bundle, "capture.json"), encoding="utf-8") as file:
        check("took traps without end" in file.read(), "the loss")
    check(counts(bundle)["exceptions"] > 100000, "the traps are in the trace")


@case("hostile guest: resets in a loop; each reset is a start with SYNC=1, and a boot of its own")
def reset_loop():
    bundle = run(64, "hostile-2-64", "--for", "300ms")
    text = subprocess.run([harness.NTRACE, "dump", bundle], stdout=subprocess.PIPE, text=True, check=True).stdout
    resets = text.count("ProgTraceSync SYNC=1 ")
    check(resets > 3, "resets")
    text = subprocess.run([harness.NTRACE, "profile", "--by", "boot-phase", "--format", "jsonl", bundle], stdout=subprocess.PIPE, text=True, check=True).stdout
    phases = [row for row in map(json.loads, text.splitlines()) if row["table"] == "phase"]
    equal({row["name"] for row in phases}, {"boot ROM and firmware"}, "phases")
    equal(len(phases), resets + 1, "boots")
    equal(sum(row["instructions"] for row in phases), counts(bundle)["instructions"], "instructions of all boots")
    equal(counts(bundle)["gaps"], 0, "gaps")


@case("a device is polled for ever, with interrupts in between: --for counts instructions")
def polls():
    found = counts(run(64, "hostile-6-64", "--for", "100000"))
    check(100000 <= found["instructions"] < 2000000, f"{found['instructions']} instructions")


# ---- the end, and what is refused


for word, given in {"": [], ", --repeatable": ["--repeatable"]}.items():
    for width in 64, 32:
        @case(f"RV{width}{word}: supervisor mode switches the machine off in the middle of a block; no instruction is missing",
              long=(width == 32) == (word == ""))
        def last_block(width=width, given=given):
            listed = os.path.join(scratch(), "listed.txt")
            bundle = beside_truth(width, f"hostile-8-{width}", *given, plugin=f",list={listed}")
            found = instructions(bundle)
            with open(listed, encoding="utf-8") as file:
                expected = file.read().splitlines()
            check(expected[-1].endswith(" S"), "supervisor mode")
            same_items(found, expected, "instruction")


@case("semihosting: the exit status is that of the machine")
def semihosting():
    run(64, "hostile-7-64", qemu=["-semihosting"], status=7)


@case("SIGINT ends the run, and the bundle is complete")
def interrupt():
    need_qemu()
    bundle = os.path.join(scratch(), "interrupted.ntrace")
    with subprocess.Popen([harness.NTRACE, "run", "--machine", "virt", "--qemu", f"{QEMU}/qemu-system-riscv64", "-o", bundle,
                           program("hostile-6-64")], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        until(lambda: process.poll() is not None or any(os.path.getsize(name) > 1000 for name in glob.glob(f"{bundle}.*/trace.nex*")),
              "1,000 bytes of the stream")
        process.send_signal(signal.SIGINT)
        error = process.communicate(timeout=harness.DEADLINE)[1]
    check(f"ntrace run: {bundle}: " in error, error)
    check(counts(bundle)["instructions"] > 0, "instructions")


@case("OpenSBI and U-Boot of Debian to the prompt: every instruction that a plugin saw", long=True)
def u_boot():
    need_qemu()
    firmware = [os.path.join(os.path.dirname(os.path.realpath(QEMU)), "usr/lib/u-boot/qemu-riscv64_smode/u-boot.bin"),
                "/usr/lib/u-boot/qemu-riscv64_smode/u-boot.bin"]
    firmware = [path for path in firmware if os.path.exists(path)]
    if not firmware:
        harness.skip("u-boot")
    bundle, file = os.path.join(scratch(), "u-boot.ntrace"), os.path.join(scratch(), "truth.txt")
    command = [harness.NTRACE, "run", "--machine", "virt", "--qemu", f"{QEMU}/qemu-system-riscv64", "-o", bundle, "--for", "100s", "--kernel",
               firmware[0], "--", "-plugin", f"{PLUGIN},out={file}"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        console = b""
        while b"\n=> " not in console and (byte := process.stdout.read(1)):
            console += byte
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    check(b"OpenSBI v" in console and b"\n=> " in console, console[-300:])
    check_same(SAME, bundle, file)
    images = {row.get("image"): row["self"] for row in profile(bundle, "image")}
    unnamed = images.get(None, 0) + images.get("raw image", 0)
    check(images.get("fw_dynamic.elf", 0) > 1000000 and images.get("uboot.elf", 0) > 1000000 and unnamed < 1000, f"images: {images}")


def profile(bundle, by):
    text = subprocess.run([harness.NTRACE, "profile", bundle, "--by", by, "--format", "jsonl"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True, check=True, timeout=120).stdout
    return [json.loads(line) for line in text.splitlines()]


def names(elf, wanted):
    """The functions of addresses, by addr2line."""
    text = subprocess.run(["riscv64-linux-gnu-addr2line", "-f", "-e", elf, *map(hex, wanted)], stdout=subprocess.PIPE, text=True, check=True).stdout
    return text.splitlines()[::2]


for place in "beside it", "in --files":
    @case(f"firmware without names, its ELF file {place}: 100 addresses have the function that addr2line has", long=place == "beside it")
    def firmware(place=place):
        need_qemu()
        folder, bundle = os.path.join(scratch(), "firmware"), os.path.join(scratch(), "traced.ntrace")
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        elf = os.path.join(folder, "modes.elf" if place == "beside it" else "names")
        shutil.copy(program("modes-64"), elf)
        binary = os.path.join(folder, "modes.bin")
        subprocess.run(["riscv64-linux-gnu-objcopy", "-O", "binary", elf, binary], check=True)
        subprocess.run([harness.NTRACE, "run", "--machine", "virt", "--qemu", f"{QEMU}/qemu-system-riscv64", "-o", bundle,
                        *(["--files", elf] if place != "beside it" else []), binary], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=True, timeout=120)
        found = {int(row["address"], 16): row.get("function") for row in profile(bundle, "instruction")}
        chosen = random.Random(1).sample(sorted(at for at in found if 0x80000000 <= at < 0x80001000), 100)
        for address, name in zip(chosen, names(elf, chosen)):
            equal(found[address], name, f"function of {address:#x}")


def qemu_for(elf, text):
    """A script that is QEMU; where the program runs, these commands, in which QEMU stands for it."""
    script = os.path.join(os.path.dirname(elf), "qemu-system-riscv64")
    with open(script, "w", encoding="ascii") as file:
        file.write(f"""#!/bin/sh
case "$*" in *{elf}*) ;; *) exec {QEMU}/qemu-system-riscv64 "$@" ;; esac
{text.replace("QEMU", f"{QEMU}/qemu-system-riscv64")}
""")
    os.chmod(script, 0o755)
    return script


@case("firmware that is replaced while it runs: the file that ran is in the bundle")
def replaced():
    need_qemu()
    folder, bundle = os.path.join(scratch(), "replaced"), os.path.join(scratch(), "traced.ntrace")
    os.makedirs(folder, exist_ok=True)
    elf = os.path.join(folder, "modes")
    shutil.copy(program("modes-64"), elf)
    shutil.copy(program("hostile-7-64"), elf + ".new")
    script = qemu_for(elf, f'QEMU "$@"; mv {elf}.new {elf}')
    subprocess.run([harness.NTRACE, "run", "--machine", "virt", "--qemu", script, "-o", bundle, elf], stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, check=True, timeout=120)
    check(not os.path.exists(elf + ".new"), "it was replaced")
    with open(os.path.join(bundle, "images", "modes"), "rb") as ours, open(program("modes-64"), "rb") as theirs:
        check(ours.read() == theirs.read(), "the image is the file that ran")


@case("--for 800ms: the time begins with the machine, not with QEMU, which takes longer to start")
def begins():
    need_qemu()
    folder, bundle = os.path.join(scratch(), "late"), os.path.join(scratch(), "late.ntrace")
    os.makedirs(folder, exist_ok=True)
    elf = shutil.copy(program("hostile-1-64"), folder)
    done = subprocess.run([harness.NTRACE, "run", "--machine", "virt", "--for", "800ms", "--qemu", qemu_for(elf, 'sleep 1; exec QEMU "$@"'), "-o", bundle, elf],
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=120)
    equal(done.returncode, 0, f"exit status (1: no instruction was executed); {done.stderr[-300:]}")


REFUSED = {"-d of QEMU": (["x"], ["-d", "int"], "reads the log"), "-smp of QEMU": (["x"], ["-smp", "2"], "--harts"),
           "several harts that take turns": (["--harts", "2"], ["-accel", "tcg,thread=single"], "QEMU's option -accel: expected --harts 1, found 2 harts; with this option QEMU would report them under wrong numbers"),
           "several harts with -icount": (["--harts", "2"], ["-icount", "1"], "option -icount: expected --harts 1, found 2 harts"),
           "--repeatable with several harts": (["--harts", "2", "--repeatable"], [], "one hart"),
           "another clock": (["--clock", "sundial"], [], "--clock"), "another text than a limit": (["--for", "soon"], [], "--for"), "a firmware that is not there": (["/nonexistent"], [], "/nonexistent"),
           "a folder as firmware": (["/"], [], "/: Is a directory"), "a folder as kernel": (["--kernel", "/"], [], "/: Is a directory"),
           "a firmware for another processor": ([sys.executable], [], "not a program for RISC-V"),
           "a firmware of other registers": (["--xlen", "64", program("modes-32")], [], "of 32 bits, and the machine has 64"),
           "a firmware of other registers than QEMU's": (["--qemu", "qemu-system-riscv64", program("modes-32")], [], "of 32 bits, and the machine has 64"),
           "--xlen of another QEMU": (["--xlen", "32", "--qemu", "/x/qemu-system-riscv64"], [], "qemu-system-riscv64 has machines of 64 bits")}
for word, (options, qemu, why) in REFUSED.items():
    @case(f"refused: {word}")
    def refused(options=options, qemu=qemu, why=why):
        options = [program("modes-64") if option == "x" else option for option in options]
        done = subprocess.run([harness.NTRACE, "run", "--machine", "virt", "-o", os.path.join(scratch(), "no.ntrace"), *options, "--", *qemu],
                              stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=60)
        equal(done.returncode, 2, "status")
        check(why in done.stderr, done.stderr)


UNUSABLE = {"text": (b"names\n", 2, "expected a folder"), "empty": (b"", 2, "expected a folder"),
            "damaged gzip": (b"\x1f\x8b\x08" + bytes(2000), 0, "no names"), "damaged xz": (b"\xfd7zXZ\0" + bytes(2000), 0, "no names"),
            "damaged ext4": (bytes(0x438) + b"\x53\xef" + bytes(2000), 0, "no names")}
for kind, (content, status, why) in UNUSABLE.items():
    @case(f"--files with a file that gives no names ({kind}): one message says why")
    def unusable(kind=kind, content=content, status=status, why=why):
        need_qemu()
        path = os.path.join(scratch(), f"names.{kind}")
        with open(path, "wb") as file:
            file.write(content)
        done = subprocess.run([harness.NTRACE, "run", "--quiet", "--machine", "virt", "--qemu", f"{QEMU}/qemu-system-riscv64", "-o",
                               os.path.join(scratch(), "no.ntrace"), "--files", path, program("modes-64")], stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=60)
        equal(done.returncode, status, f"status; {done.stderr}")
        said = [line for line in done.stderr.splitlines() if line.startswith("ntrace") and "other bytes executed" not in line]  # it patches itself
        check(why in done.stderr and path in done.stderr and len(said) == 1, done.stderr)


@case("without QEMU 10, one sentence says what is missing")
def missing():
    empty = os.path.join(scratch(), "empty")
    os.makedirs(empty, exist_ok=True)
    done = subprocess.run([harness.NTRACE, "run", "--machine", "virt", program("modes-64")], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True, env={"PATH": empty, "NTRACE_DEBIAN": empty}, cwd=scratch(), timeout=60)
    equal(done.returncode, 2, "status")
    check("tools/fetch_qemu" in done.stderr and done.stderr.count("\n") == 1, done.stderr)


harness.main()
