#!/usr/bin/env python3
"""What ntrace says about a Linux guest, compared with what the guest's own kernel says about it at its end. Minutes of processor time:
`make test-linux`. TAP.

usage: linux_answers.py NTRACE [--fetch]

The guest's first program is guest/answers.c. It prints /proc/PID/stat, /proc/stat, /proc/interrupts, a hash of /proc/kallsyms, and how
often a traced child made each system call. The trace ends when it has read them.
"""
import bisect
import functools
import json
import os
import random
import re
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
import harness
import linux_guest
from harness import case, check, equal

NANOSECONDS = 8  # for each instruction, with --repeatable


def output(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True, timeout=1200).stdout


def jsonl(command, *options):
    return [json.loads(line) for line in output(harness.NTRACE, command, "--format", "jsonl", *options, guest()[0]).splitlines()]


def program():
    return linux_guest.compiled("answers")


@functools.cache
def guest():
    """The bundle, and what the guest has printed."""
    return linux_guest.boot("--repeatable", "--stop-at", linux_guest.address(program(), "answers_end"), init=program())


@functools.cache
def processes():
    """{pid: (name, ticks of 10 ms in user and kernel mode)}"""
    found = re.findall(r"(?m)^(\d+) \((.*)\) \S (.*)$", guest()[1])
    check(len(found) > 20, "processes are printed")
    return {int(pid): (name, sum(map(int, rest.split()[10:12]))) for pid, name, rest in found}


def interrupts(name):
    """How often the kernel has counted the interrupt of this device."""
    return int(re.search(rf"(?m)^ *\d+: +(\d+) .* {re.escape(name)}\r?$", guest()[1])[1])


def rows(kind):
    return {row["function"]: row for row in jsonl("profile", "--by", "syscall") if row["kind"] == kind}


@case("interrupts: as many as in /proc/interrupts, by name")
def count_interrupts():
    found = rows("interrupt")
    equal(found["riscv_timer_interrupt"]["count"], interrupts("riscv-timer"), "timer")
    equal(found["serial8250_interrupt"]["count"], interrupts("ttyS0"), "serial port")
    total = int(re.search(r"(?m)^intr (\d+)", guest()[1])[1])
    equal(sum(row["count"] for row in found.values()), total, "all, as in /proc/stat")


@case("context switches: as many as in /proc/stat")
def switches():
    total = next(row for row in jsonl("profile", "--by", "syscall") if row["kind"] == "total")
    equal(total["switches"], int(re.search(r"(?m)^ctxt (\d+)", guest()[1])[1]), "switches")


@case("system calls: as many as a tracer in the guest has counted")
def system_calls():
    found = {row["name"]: row["count"] for row in jsonl("profile", "--by", "syscall") if row["kind"] == "system call"}
    macros = subprocess.run([linux_guest.COMPILER, "-E", "-dM", "-xc", "-"], input="#include <asm/unistd.h>", stdout=subprocess.PIPE, text=True,
                            check=True).stdout
    values = dict(re.findall(r"(?m)^#define (__NR\w+) (\w+)$", macros))
    names = {int(values.get(value, value)): name[5:] for name, value in values.items()
             if name.startswith("__NR_") and values.get(value, value).isdigit()}
    names[250] = "ni_syscall"
    kernels = {"uname": "newuname"}
    called = re.findall(r"(?m)^call (\d+) (\d+)\r?$", guest()[1])
    check(len(called) >= 8, "the guest prints what it has counted")
    for number, count in called:
        name = names[int(number)]
        if name == "exit_group":
            continue
        equal(found.get(kernels.get(name, name)), int(count), name)


@functools.cache
def profile():
    return [row for row in jsonl("profile", "--by", "process") if "pid" in row]


@case("processes: names and pids are those of ps")
def names_of_processes():
    last = {}
    for row in profile():
        last.setdefault(row["pid"], set()).add(row["process"])
    for pid, (name, ticks) in processes().items():
        if pid not in last:
            check(ticks == 0, f"pid {pid} ({name}) has run for {ticks} ticks, and is not in the profile")
            continue
        # The kernel keeps 15 characters; ps shows more of the names of kernel threads.
        check(any(name.startswith(found) for found in last[pid]), f"pid {pid} is {name}, found {last[pid]}")
    for name in "spin-a", "spin-b", "read-c":
        check(name in {row["process"] for row in profile()}, name)


@case("time by process: within 2 % of /proc/PID/stat")
def times():
    found = {}
    for row in profile():
        found[row["pid"]] = found.get(row["pid"], 0) + row["self"] * NANOSECONDS / 1e7
    compared = 0
    for pid, (name, ticks) in processes().items():
        if ticks < 100:
            continue
        compared += 1
        print(f"# {name}: {ticks} ticks, {found[pid]:.1f} by instructions")
        check(abs(found[pid] - ticks) <= 0.02 * ticks + 1, f"{name}: {ticks} ticks, {found[pid]:.1f} by instructions")
    check(compared >= 4, "processes have run for a second")


@case("symbols of the kernel: the tables inside its image are /proc/kallsyms")
def kernel_symbols():
    value = 0xCBF29CE484222325
    with open(os.path.join(guest()[0], "images", "kallsyms"), "rb") as file:
        for byte in file.read():
            value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    equal(f"{value:016x}", re.search(r"symbols ([0-9a-f]+)", guest()[1])[1], "hash")


@functools.cache
def executed():
    """{address: function} of all instructions that were executed."""
    return {int(row["address"], 16): row.get("function") for row in jsonl("profile", "--by", "instruction")}


def sample(first, last, count=100):
    """Addresses that were executed, chosen at random."""
    addresses = sorted(at for at in executed() if first <= at <= last)
    check(len(addresses) >= count, f"{len(addresses)} addresses were executed")
    return random.Random(1).sample(addresses, count)


@case("100 addresses of a program: the function is that of addr2line")
def addresses_of_program():
    chosen = sample(0x40000000, 0x4FFFFFFF)
    expected = output("riscv64-linux-gnu-addr2line", "-f", "-e", program(), *map(hex, chosen)).splitlines()[::2]
    names = {}  # of one address
    for address, name in re.findall(r"(?m)^([0-9a-f]+) . (\S+)$", output("riscv64-linux-gnu-nm", program())):
        names.setdefault(address, set()).add(name)
    for address, name in zip(chosen, expected):
        found = executed()[address]
        check(found == name or any({found, name} <= group for group in names.values()), f"{address:#x}: found {found}, addr2line has {name}")


@case("100 addresses of the kernel: the function is that of /proc/kallsyms")
def addresses_of_kernel():
    with open(os.path.join(guest()[0], "images", "kallsyms"), encoding="utf-8") as file:
        symbols = [(int(at, 16), name) for at, _, name in map(str.split, file)]
    for address in sample(0xFFFFFFFF80000000, 0xFFFFFFFFFFFFFFFF):
        begin = max(at for at, _ in symbols if at <= address)
        names = {name for at, name in symbols if at == begin}
        check(executed()[address] in names, f"{address:#x}: found {executed()[address]}, expected one of {names}")


@case("time without interrupts: where it ends has a name, also when it ends in another mode")
def ends_of_stretches():
    rows = {row["name"]: row["longest"] for row in jsonl("profile", "--by", "syscall") if row["kind"] == "off"}
    ends = [stretch for stretch in rows["interrupts of M-mode"] if int(stretch["to"], 16) >= 0xFFFFFFFF80000000]
    check(len(ends) > 2, f"SBI calls of the kernel: {rows}")
    with open(os.path.join(guest()[0], "images", "kallsyms"), encoding="utf-8") as file:
        symbols = sorted((int(at, 16), name) for at, kind, name in map(str.split, file) if kind in "tTwW")
    for stretch in ends:
        begin = symbols[bisect.bisect_right(symbols, (int(stretch["to"], 16), "\x7f")) - 1][0]
        names = {name for at, name in symbols if at == begin}
        check(stretch.get("to_function") in names, f"{stretch}: expected one of {names}")


@case("timeline: the longest time without interrupts and preemption is that of syscalls")
def stretches():
    document = json.loads(output(harness.NTRACE, "timeline", "--to", "json", guest()[0]))
    found = {row["name"]: row["longest"] for row in document["off"]}
    expected = {row["name"]: row["longest"][0]["instructions"] for row in jsonl("profile", "--by", "syscall") if row["kind"] == "off"}
    check(len(expected) > 1, f"stretches: {expected}")
    equal(found, expected, "instructions")


# ---- filters: the same boot again


def filtered(condition, name):
    """The bundle of the same execution, traced with a filter."""
    return linux_guest.boot("--repeatable", "--stop-at", linux_guest.address(program(), "answers_end"), "--filter", condition, init=program(),
                            name=name)[0]


def by_context(bundle):
    """{(scontext, mode): instructions}"""
    text = output(harness.NTRACE, "profile", "--by", "context", "--format", "jsonl", bundle)
    return {(row["scontext"], row["prv"]): row["self"] for row in map(json.loads, text.splitlines())}


@case("--filter scontext of one process: all of its instructions, in each mode, and no others")
def one_process():
    everything = by_context(guest()[0])
    chosen = max((count, context) for (context, mode), count in everything.items() if mode == 0)[1]
    expected = {key: count for key, count in everything.items() if key[0] == chosen}
    found = by_context(filtered(f"scontext={chosen}", "process"))
    equal(set(found), set(expected), "contexts and modes")
    for key, count in expected.items():
        check(abs(found[key] - count) <= 0.001 * count, f"{key}: {found[key]} of {count} instructions")


# A kernel that switches threads in a handler, as later suites have it, executes others until the next return from a trap.
SHARE = 1 / 4 if linux_guest.SUITE == "trixie" else 1


@case(f"--filter interrupt: as many interrupts as in the whole trace, in less than {SHARE} of the instructions")
def interrupts_only():
    text = output(harness.NTRACE, "decode", "--show", "count", filtered("interrupt", "interrupts"))
    found = {name: int(value) for name, value in map(str.split, text.splitlines())}
    everything = dict(map(str.split, output(harness.NTRACE, "decode", "--show", "count", guest()[0]).splitlines()))
    equal(found["interrupts"], int(everything["interrupts"]), "interrupts")
    check(found["instructions"] < SHARE * int(everything["instructions"]), f"{found['instructions']} instructions")


# ---- Debian's Python and SQLite in the guest


@functools.cache
def programs():
    """The bundle, and how many interrupts the kernel has counted that the hart sends to itself."""
    bundle, console = linux_guest.boot(name="programs", **linux_guest.programs())
    for line in linux_guest.PRINTED:
        check(line in console, f"{line}: {console[-400:]}")
    counts = re.findall(r"(?m)^IPI\d+: +(\d+) ", console)
    check(counts, f"/proc/interrupts: {console[-400:]}")
    return bundle, sum(map(int, counts))


@case("Python and SQLite with shared libraries: no interrupt but those of the kernel's devices, and of the hart itself if the kernel counted some")
def no_false_interrupts():
    bundle, sent = programs()
    text = output(harness.NTRACE, "profile", "--by", "syscall", "--format", "jsonl", bundle)
    found = {row["function"]: row["count"] for row in map(json.loads, text.splitlines()) if row["kind"] == "interrupt"}
    own = {"handle_IPI"} if sent else set()
    equal(set(found), {"riscv_timer_interrupt", "serial8250_interrupt"} | own, "interrupts")
    check(found.get("handle_IPI", 0) >= sent, f"the kernel counted {sent} before the end, found {found}")


@case("Python and SQLite with shared libraries: each file is found, in each process")
def files_are_found():
    text = output(harness.NTRACE, "profile", "--by", "image", "--format", "jsonl", programs()[0])
    images = {row.get("image"): row["self"] for row in map(json.loads, text.splitlines())}
    for name in "usr/bin/python3.13", "usr/bin/sqlite3", *linux_guest.needed("usr/bin/sqlite3"):
        check(images.get(f"/{name}"), f"{name}: {images}")
    unknown, user = images.get(None, 0), sum(n for name, n in images.items() if name and name.startswith("/"))
    check(unknown < user / 500, f"{unknown} instructions have no file, {user} have one")
    text = output(harness.NTRACE, "profile", "--by", "process", "--format", "jsonl", programs()[0])
    found = sorted(row["process"] for row in map(json.loads, text.splitlines()) if row.get("process") in ("python3.13", "sqlite3"))
    equal(found, ["python3.13", "python3.13", "sqlite3"], "processes")


harness.main()
