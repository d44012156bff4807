#!/usr/bin/env python3
"""Linux, and OpenSBI with U-Boot, under trace: every instruction of every hart and its privilege mode, as a plugin saw it that is called
at each instruction of the same run. Minutes of processor time: `make test-linux`. TAP.

usage: linux.py NTRACE PLUGIN SAME [--fetch]
"""
import collections
import json
import os
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
import harness
import linux_guest
import machine_parts
from harness import case, check, equal, scratch

PLUGIN, SAME = (os.path.abspath(path) for path in sys.argv[2:4])


def exact(run, *options, truth="", **more):
    """Trace beside the plugin, and compare. What the console showed."""
    file = os.path.join(scratch(), "truth.txt")
    bundle, console = run(*options, qemu=["-plugin", f"{PLUGIN},out={file}{truth}"], **more)
    print("# " + machine_parts.check_same(SAME, bundle, file, timeout=3600).strip().replace("\n", "\n# "))
    return console


OPTIONS = {"one hart": [], "one hart, BTM": ["--mode", "btm"], "one hart, --best": ["--best"], "one hart, repeatable": ["--repeatable"],
           "two harts": ["--harts", "2"]}
for word, given in OPTIONS.items():
    @case(f"Linux to power-off, {word}: every instruction and its mode")
    def linux(given=given):
        exact(linux_guest.boot, *given)


FILTERS = {"the kernel alone": ("priv=s", ",modes=2"), "programs alone": ("priv=u", ",modes=1"), "firmware alone": ("priv=m", ",modes=8")}
for word, (chosen, wanted) in FILTERS.items():
    @case(f"Linux to power-off, --filter {chosen}, {word}: every instruction in this mode, and no other")
    def one_mode(chosen=chosen, wanted=wanted):
        exact(linux_guest.boot, "--filter", chosen, truth=wanted)


ASID = 2  # of the second process


@case(f"Linux to power-off, --filter scontext={ASID}: every instruction while satp has this ASID, in each mode, and no other")
def one_process():
    exact(linux_guest.boot, "--repeatable", "--filter", f"scontext={ASID}", truth=f",asid={ASID}")


FIRST, LAST = "kernel_init", "do_group_exit"


@case(f"Linux, --start-at {FIRST} --stop-at {LAST}, which are functions of the kernel: every instruction from one to the other")
def window():
    first, last = linux_guest.kernel_symbols(FIRST, LAST)
    exact(linux_guest.boot, "--repeatable", "--start-at", FIRST, "--stop-at", LAST, truth=f",from={first},until={last}")


@case(f"Linux, --start-at {LAST}: what was executed before is still named, the files of processes and the task that runs")
def late():
    bundle, _ = linux_guest.boot("--repeatable", "--start-at", LAST)
    rows = {by: [json.loads(line) for line in subprocess.run([harness.NTRACE, "profile", "--by", by, "--format", "jsonl", bundle], check=True,
                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout.splitlines()] for by in ("image", "mode", "process")}
    programs = sum(row["self"] for row in rows["image"] if row.get("image") == "/usr/bin/busybox")
    user = sum(row["self"] for row in rows["mode"] if row["mode"] == "U")
    check(0.999 * user < programs <= user, f"{programs} of {user} instructions of programs are those of busybox: {rows['image']}")
    unnamed = [row for row in rows["process"] if "pid" not in row and row["self"]]
    check(not unnamed, f"without a process: {unnamed}")


# Buffers that hold everything.
WIDE = """{"components": [
 {"name": "te", "type": "encoder", "base": "0x10000000", "hart": 0, "to": "funnel", "fifo": 4096, "rate": 16},
 {"name": "funnel", "type": "funnel", "base": "0x10002000", "to": "ram", "rate": 16},
 {"name": "ram", "type": "ram", "base": "0x10001000", "sram": 134217728}]}"""


@case("Linux to power-off through a modelled system: every instruction and its mode, also of code that the kernel patches")
def whole_system():
    topology = os.path.join(scratch(), "wide.json")
    with open(topology, "w", encoding="utf-8") as file:
        file.write(WIDE)
    exact(linux_guest.boot, "--repeatable", "--topology", topology)


# The buffers overflow: the funnel takes a byte for each 64 instructions.
SLOW = """{"components": [
 {"name": "te", "type": "encoder", "base": "0x10000000", "hart": 0, "to": "funnel", "fifo": 256},
 {"name": "funnel", "type": "funnel", "base": "0x10002000", "to": "ram", "rate": 1, "rate_cycles": 64},
 {"name": "ram", "type": "ram", "base": "0x10001000", "sram": 4194304}]}"""
BEGINNING = 18000000  # instructions; OpenSBI has 13 million, because it waits for the serial port


@case(f"Linux through a funnel that is too slow, the first {BEGINNING} instructions: gaps, and between them what was executed, in order")
def overflow():
    topology, listed, counted = (os.path.join(scratch(), name) for name in ("slow.json", "listed.txt", "counted.txt"))
    with open(topology, "w", encoding="utf-8") as file:
        file.write(SLOW)
    bundle, _ = linux_guest.boot("--topology", topology, "--repeatable", "--for", str(BEGINNING),
                                 qemu=["-plugin", f"{PLUGIN},out={counted},list={listed},modes=2"])
    with open(listed, encoding="utf-8") as file:
        expected = file.read().splitlines()
    found = [[span for span in part if span[1] == "S"] for part in machine_parts.parts(bundle)]
    found = [part for part in found if part]
    print(f"# {len(found)} parts, {machine_parts.traced(found)} of {len(expected)} instructions of S-mode")
    machine_parts.in_order(found, expected)
    check(len(found) > 100, f"{len(found)} parts")


@case("coverage of object code: executions of each version of an instruction that the kernel patches, as counted at each instruction")
def versions():
    counted, bytes_at, file = {}, collections.defaultdict(set), os.path.join(scratch(), "versions.txt")
    first, last = linux_guest.kernel_symbols("_stext", "_etext")
    bundle, _ = linux_guest.boot("--repeatable", qemu=["-plugin", f"{PLUGIN},out={file}.hashes,versions={file},first={first},last={last}"])
    with open(file, encoding="utf-8") as lines:
        for address, opcode, count in map(str.split, lines):
            counted[address, opcode] = int(count)
            bytes_at[address].add(opcode)
    text = subprocess.run([harness.NTRACE, "coverage", "--level", "object", "--format", "json", bundle], check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, timeout=1200).stdout
    found = {(v["insn"]["address"], v["insn"]["opcode"]): v["executed"] for v in json.loads(text)["versions"]}
    patched = {at for at, opcodes in bytes_at.items() if len(opcodes) > 1}
    print(f"# {len(found)} versions; {len(patched)} addresses with several")
    listed = {at for at, _ in found}
    check(len(patched) > 100 and patched <= listed, f"not listed: {sorted(patched - listed)[:5]}")
    for key, count in found.items():
        if int(first, 16) <= int(key[0], 16) <= int(last, 16):
            equal(count, counted.get(key, 0), f"executions of {key}")
            check(int(key[1], 16) & 0xffff, f"{key} is no instruction")


@case("Debian's Python and SQLite in Linux, shared libraries at other addresses in each process: every instruction and its mode")
def programs():
    console = exact(linux_guest.boot, **linux_guest.programs())
    for line in linux_guest.PRINTED:
        check(line in console, f"{line}: {console[-400:]}")


@case("OpenSBI and U-Boot to its prompt: every instruction and its mode")
def u_boot():
    u_boot = os.path.join(os.path.dirname(linux_guest.emulator()), "..", "usr/lib/u-boot/qemu-riscv64_smode/u-boot.bin")
    console = exact(linux_guest.trace, "--kernel", os.path.realpath(u_boot), "--for", "40s")
    check("U-Boot" in console, console[-500:])


harness.main()
