#!/usr/bin/env python3
"""`ntrace run --machine` with the machines spike, sifive_e and sifive_u: programs of our own against a plugin
that is called at each instruction, and the reference programs against the beginning of their published lists. TAP.

usage: targets.py NTRACE FOLDER PLUGIN SAME     as of machine.py

A published list is that of a simulator. QEMU executes the same up to where a program depends on the machine: HTIF of QEMU never answers
a request to print, and the flash of sifive_e takes no stores.
"""
import os
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
import harness
import machine_parts
import qemu10
from harness import case, check, equal, need, same_items, scratch, shared

PROGRAMS, PLUGIN, SAME = (os.path.abspath(path) for path in sys.argv[2:5])
QEMU = qemu10.find()
STATUS = 5  # of targets.S


def run(bits, machine, firmware, *options, qemu=(), status=0):
    """The bundle."""
    bundle = os.path.join(scratch(), "traced.ntrace")
    program = os.path.join(QEMU or harness.skip(qemu10.REASON), f"qemu-system-riscv{bits}")
    done = subprocess.run([harness.NTRACE, "run", "--machine", machine, "--qemu", program, "-o", bundle, *options, firmware, "--", *qemu],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False)
    equal(done.returncode, status, f"exit status; {done.stderr[-300:]}")
    return bundle


def addresses(bundle, src=0):
    done = subprocess.run([harness.NTRACE, "decode", bundle, "--show", "pc", "--src", str(src)], capture_output=True, text=True,
                          timeout=120, check=False)
    check(done.returncode < 2, f"status of decode; {done.stderr[-300:]}")
    return done.stdout.split()


MACHINES = {"spike, ended through HTIF": ("spike", [], 0), "sifive_e, ended by semihosting": ("sifive_e", ["-semihosting"], 0),
            "sifive_u, ended by semihosting": ("sifive_u", ["-semihosting"], 1)}
for word, (machine, given, hart) in MACHINES.items():
    for width in 64, 32:
        @case(f"RV{width}, {word}: the exit status, and every instruction of each hart as a plugin saw it", long=(width == 32) == (machine != "sifive_e"))
        def exits(width=width, machine=machine, given=given, hart=hart):
            truth, listed = (os.path.join(scratch(), name) for name in ("truth.txt", "listed.txt"))
            bundle = run(width, machine, os.path.join(PROGRAMS, f"{machine}-{width}"), status=STATUS,
                         qemu=[*given, "-plugin", f"{PLUGIN},out={truth},list={listed}"])
            machine_parts.check_same(SAME, bundle, truth)
            found = addresses(bundle, hart)
            check(len(found) > 20000, f"{len(found)} instructions")
            if hart:
                return
            with open(listed, encoding="utf-8") as file:
                expected = [line.split()[0] for line in file]
            if given:
                expected.pop()  # the EBREAK of semihosting, which does not retire
            same_items(found, expected, "instruction")


@case("sifive_u has two harts: --repeatable is refused")
def two_harts():
    run(64, "sifive_u", os.path.join(PROGRAMS, "sifive_u-64"), "--repeatable", status=2)


# ---- the reference programs: how many instructions of the list are executed

REFERENCE = {"median": ("spike", 64, 14997), "vvadd": ("spike", 64, 9998), "towers": ("spike", 64, 14998), "multiply": ("spike", 64, 54998),
             "qsort": ("spike", 64, 234997), "dhrystone": ("spike", 64, 204997), "mt-vvadd": ("spike", 64, 9686)}
LONG = [("coremark", "spike", 64, 40000), ("embench-crc32", "sifive_e,revb=true", 32, 23607)]
BEHIND = 2000  # instructions, which are not in the list
for name, machine, width, count, is_long in [(name, *values, values[-1] > 100000) for name, values in REFERENCE.items()] + [(*values, True) for values in LONG]:
    @case(f"reference program {name}, {machine}: the first {count} instructions are those of the published list", long=is_long)
    def published(name=name, machine=machine, width=width, count=count):
        folder = shared("corpus", "refcode", name)
        expected = subprocess.run([need("zstd"), "-dcq", os.path.join(folder, "pc.txt.zst")], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
        bundle = run(width, machine, os.path.join(folder, "program.elf"), "--repeatable", "--for", str(count + BEHIND),
                     qemu=["-icount", "shift=0"])  # the programs read mcycle, which then counts instructions
        found = addresses(bundle)
        found = found[found.index(expected[0]):]
        same_items(found[:count], expected[:count], "instruction")


harness.main()
