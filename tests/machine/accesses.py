#!/usr/bin/env python3
"""`ntrace run --machine --data`: against the list that a program has in its own file, and against a plugin that writes down every access
and reads the memory behind it. TAP.

usage: accesses.py NTRACE FOLDER PLUGIN     FOLDER holds the programs that tests/machine/build made, PLUGIN is each_access-4.so
"""
import json
import os
import struct
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
import harness
import qemu10
from harness import case, check, equal, scratch

PROGRAMS, PLUGIN = (os.path.abspath(path) for path in sys.argv[2:4])
QEMU = qemu10.find()
OBJCOPY = "riscv64-linux-gnu-objcopy"
FIRMWARE = 0x1020  # the code behind the reset vector reads its constants here
IS_STORE, OTHER_DATA = 1, 2
RAM = 0x80000000  # below it are devices


def trace(bits, name, *options, qemu=(), status=0):
    if not QEMU:
        harness.skip(qemu10.REASON)
    bundle = os.path.join(scratch(), "traced.ntrace")
    command = [harness.NTRACE, "run", "--machine", "virt", "--qemu", f"{QEMU}/qemu-system-riscv{bits}", "--cpu",
               f"rv{bits},v=true" + (",zacas=true" if bits == 64 else ""), "-o", bundle, *options, os.path.join(PROGRAMS, f"{name}-{bits}")]
    done = subprocess.run([*command, "--", *qemu] if qemu else command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=120)
    equal(done.returncode, status, f"exit status; {done.stderr[-300:]}")
    return bundle, done.stderr


def events(bundle, src=0):
    done = subprocess.run([harness.NTRACE, "decode", bundle, "--show", "event", "--format", "jsonl", "--src", str(src)],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)
    equal(done.returncode, 0, f"status of decode; {done.stderr[-300:]}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def accesses(bundle):
    """(is a store, size, address, data) of each access."""
    return [(int(e["name"] == "write"), e["data_size"], int(e["address"], 16), int(e["data"], 16)) for e in events(bundle)
            if e["kind"] == "access"]


def expected(bits):
    """The section .expect of the program."""
    harness.need(OBJCOPY)
    found = os.path.join(scratch(), f"expect-{bits}")
    subprocess.run([OBJCOPY, "-O", "binary", "--only-section=.expect", "--set-section-flags", ".expect=alloc",
                    os.path.join(PROGRAMS, f"accesses-{bits}"), found], check=True)
    with open(found, "rb") as file:
        return list(struct.iter_unpack("<IIQQ", file.read()))


def same(found, truth):
    harness.same_items(found, truth, "access")


def of_program(bundle):
    return [row for row in accesses(bundle) if row[2] > FIRMWARE]


OPTIONS = {"htm": [], "btm": ["--mode", "btm", "--timestamps"], "no runs": ["--all-jumps"], "ctte": ["--dialect", "ctte"],
           "repeatable": ["--repeatable"]}
for word, given in OPTIONS.items():
    for width in 64, 32:
        @case(f"RV{width}, {word}: the accesses of all kinds of instructions are those that the program says",
              long=(width == 32) != (word in ("btm", "ctte")))
        def each(width=width, given=given):
            truth = expected(width)
            equal({row[1] for row in truth}, {1, 2, 4, 8}, "sizes")
            same(of_program(trace(width, "accesses", "--data", *given)[0]), truth)


for width in 64, 32:
    @case(f"RV{width}: contexts are those of satp, also where only the access of a block reports a change")
    def contexts(width=width):
        found = [int(e["scontext"], 16) for e in events(trace(width, "accesses", "--data")[0]) if e["kind"] == "context"]
        equal([one for i, one in enumerate(found) if i == 0 or one != found[i - 1]], [0, 1, 2, 1, 3, 1], "contexts")


@case("--data-range: an object of the firmware, a range of addresses; what lies outside is left out")
def chosen():
    truth = expected(64)
    table = truth[0][2]
    same(accesses(trace(64, "accesses", "--data-range", "table")[0]), [row for row in truth if table <= row[2] < table + 64])
    same(accesses(trace(64, "accesses", "--data-range", f"0x10000000-{table + 3:#x}")[0]),
         [row for row in truth if 0x10000000 <= row[2] <= table + 3])


@case("--data-range: what is no object of the firmware is refused before the machine starts")
def refused():
    _, said = trace(64, "accesses", "--data-range", "nowhere", status=2)
    check("'nowhere': no object with this name and a size in the ELF files of the machine" in said, said)


@case("--data cannot be combined with --topology")
def no_system():
    _, said = trace(64, "accesses", "--data", "--topology", "/nowhere.json", status=2)
    check("nowhere.json" in said or "--data cannot be combined with --topology" in said, said)


# ---- beside a plugin


def records(path):
    """(store, size, address, data or None, privilege mode, instructions begun before) of hart 0."""
    with open(path, "rb") as file:
        return [(flags & IS_STORE, size, address, None if flags & OTHER_DATA else data, mode, count)
                for address, data, count, hart, mode, size, flags in struct.iter_unpack("<QQQIIII", file.read()) if hart == 0]


def placed(bundle):
    """The accesses of hart 0, with the privilege mode and with how many instructions were executed at least and at most before; how many
    instructions more may have begun: QEMU begins some again at traps and at devices. (How often is not known; 2 for each trap were seen.)"""
    found, mode, count, open_from, traps = [], 3, 0, 0, 0
    for e in events(bundle):
        if e["kind"] == "span":
            count += e["instructions"]
            traps += e["end"] in ("exception", "interrupt")
            for row in found[open_from:]:
                row[6] = count
            open_from = len(found)
        elif e["kind"] == "context":
            mode = e["prv"]
        elif e["kind"] == "access":
            found.append([int(e["name"] == "write"), e["data_size"], int(e["address"], 16), int(e["data"], 16), mode, count, count])
    return found, 3 * traps + sum(row[2] < RAM for row in found)


def beside(width, name, *options):
    log = os.path.join(scratch(), "truth.bin")
    bundle, _ = trace(width, name, "--data", *options, qemu=["-plugin", f"{PLUGIN},out={log}"])
    truth = [row for row in records(log) if row[2] > FIRMWARE]
    found, again = placed(bundle)
    found = [row for row in found if row[2] > FIRMWARE]
    check(len(truth) > 200, f"{len(truth)} accesses")
    equal(len({row[4] for row in truth}) > 1, True, "several modes")
    for i, (row, true) in enumerate(zip(found, truth)):
        data = row[3] if true[3] is not None else None
        equal((*row[:3], data, row[4]), true[:5], f"access {i}: store, size, address, data, mode")
        check(row[5] <= true[5] <= row[6] + again, f"access {i}: between {row[5]} and {row[6]} instructions, the plugin counted {true[5]}")
    equal(len(found), len(truth), "accesses")


for width in 64, 32:
    for word, given in {"interrupts at any instruction": [], "repeatable": ["--repeatable"], "btm": ["--mode", "btm"],
                        "timestamps": ["--timestamps", "--clock", "time"]}.items():
        @case(f"RV{width}, {word}: each access, its data, its mode and its place are those that a plugin saw",
              long=(width == 32) != (word in ("btm", "repeatable")))
        def plugin(width=width, given=given):
            beside(width, "modes", *given)


if __name__ == "__main__":
    harness.main()
