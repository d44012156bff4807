#!/usr/bin/env python3
"""Names of code that is in no file of a Linux kernel: a module, an eBPF program, the vDSO. Compared with /proc/modules,
/proc/kallsyms and /proc/self/maps of the guest. Minutes of processor time: `make test-linux`. TAP.

usage: linux_names.py NTRACE [--fetch]
"""
import bisect
import functools
import glob
import json
import lzma
import os
import re
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
import harness
import linux_guest
from harness import case, check, equal, scratch

TIMES = 2000  # of guest/names.c
PAGE = 4096


def module():
    """brd.ko, as the guest's kernel loads it."""
    found = glob.glob(os.path.join(linux_guest.tool("fetch_guest", os.path.join(scratch(), "any")), "modules/kernel/drivers/block/brd.ko*"))
    check(found, "the kernel has the module brd")
    path = os.path.join(scratch(), "brd.ko")
    with lzma.open(found[0]) as packed, open(path, "wb") as file:
        file.write(packed.read())
    return path


@functools.cache
def guest():
    """The bundle, and what the guest has printed."""
    init = linux_guest.compiled("names")
    bundle, console = linux_guest.boot("--repeatable", "--stop-at", linux_guest.address(init, "names_end"), init=init, add=[f"brd.ko={module()}"])
    check("end of names" in console, console[-500:])
    return bundle, console


@functools.cache
def symbols():
    """Addresses and names of what the guest's kernel knows beside its image, sorted; and a file with all symbols."""
    bundle, console = guest()
    lines = re.findall(r"(?m)^[0-9a-f]+ \S \S+\t\[\w+\]$", console)
    path = os.path.join(scratch(), "kallsyms.txt")
    with open(os.path.join(bundle, "images", "kallsyms"), encoding="utf-8") as kernel, open(path, "w", encoding="utf-8") as file:
        file.write(kernel.read() + "\n".join(lines) + "\n")
    return sorted((int(at, 16), f"{name} {origin}") for at, _, name, origin in map(str.split, lines)), path


@functools.cache
def executed():
    """{address: row} of all instructions that were executed."""
    text = subprocess.run([harness.NTRACE, "profile", "--by", "instruction", "--format", "jsonl", "--symbols", f"guest={symbols()[1]}", guest()[0]],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True, timeout=1200).stdout
    return {int(row["address"], 16): row for row in map(json.loads, text.splitlines())}


def within(first, size):
    return {at: row for at, row in executed().items() if first <= at < first + size}


def names_at(address):
    """All names of the symbol that the address belongs to. Labels (.L) and mapping symbols ($x) name no function."""
    known = [symbol for symbol in symbols()[0] if not symbol[1].startswith((".L", "$"))]
    begin = known[bisect.bisect_right(known, (address, "\x7f")) - 1][0]
    return {name for at, name in known if at == begin}


@case("a module, where /proc/modules says it is: each instruction has the function of /proc/kallsyms")
def of_module():
    size, first = re.search(r"(?m)^brd (\d+) .* (0x[0-9a-f]+)", guest()[1]).groups()
    found = within(int(first, 16), int(size))
    check(len(found) > 100, f"{len(found)} instructions")
    for at, row in found.items():
        check(row.get("function") in names_at(at), f"{at:#x}: {row}, expected {names_at(at)}")
    check(any(row["function"].startswith("brd_submit_bio") for row in found.values()), "blocks are read and written")


@case(f"an eBPF program that the kernel has translated: its name of /proc/kallsyms, {TIMES} executions")
def of_bpf():
    first, name = next(symbol for symbol in symbols()[0] if "take_all" in symbol[1])
    found = within(first, PAGE - first % PAGE)
    check(len(found) > 3, f"{len(found)} instructions")
    for at, row in found.items():
        equal((row.get("function"), row["self"]), (name, TIMES), f"{at:#x}")


@case(f"the vDSO, where /proc/self/maps says it is: its name, {TIMES} calls of clock_gettime")
def of_vdso():
    first, last = (int(at, 16) for at in re.search(r"(?m)^([0-9a-f]+)-([0-9a-f]+) r-xp .*\[vdso\]", guest()[1]).groups())
    found = within(first, last - first)
    check(len(found) > 10, f"{len(found)} instructions")
    equal({row.get("image") for row in found.values()}, {"[vdso]"}, "image")
    equal({row["self"] for row in found.values() if row["function"] == "__vdso_clock_gettime"} & {TIMES}, {TIMES}, "executions")


harness.main()
