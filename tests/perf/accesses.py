#!/usr/bin/env python3
"""ntrace run --data beside a plugin that writes down every access (each_access.c), both in the same run.

usage: accesses.py NTRACE PLUGIN
"""
import glob
import json
import os
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(sys.path[0], ".."))
from harness import Run, case, equal, main, need, same_items, scratch
import user_qemu

PLUGIN = user_qemu.plugin(sys.argv.pop(2))
BASE = 1 << 40  # host address of guest address 0: none that QEMU takes by itself
PROGRAMS = {"static": ("-static",), "pie": ("-pie",), "family": ("-pie",), "vector": ("-static", "-march=rv64gcv"),
            "narrow": ("-nostdlib", "-static", "-ffreestanding", "-march=rv32gc", "-mabi=ilp32d", "-Wl,-melf32lriscv,--no-relax")}
LIBRARY = "long shared[8]; void touch(long n) { for (long i = 0; i < n; i++) shared[i & 7] += n ^ i; }"
CALLER = "void touch(long); int main(void) { for (long i = 1; i < 40; i += 3) touch(i); return 0; }"


def program(name, source="accesses.c"):
    for tool in ("qemu-riscv64", "riscv64-linux-gnu-gcc"):
        need(tool)
    path = os.path.join(scratch(), name)
    if not os.path.exists(path):
        subprocess.run(["riscv64-linux-gnu-gcc", "-O1", os.path.join(HERE, source), "-o", path, *PROGRAMS[name]], check=True)
    return path


def calling(name):
    """A program that uses an object of a library, which is beside it."""
    path, folder = os.path.join(scratch(), name), scratch()
    for text, out, more in ((LIBRARY, "libshared.so", ("-shared", "-fPIC")), (CALLER, name, ("-L", folder, "-lshared", f"-Wl,-rpath,{folder}"))):
        source = os.path.join(folder, out + ".c")
        with open(source, "w", encoding="ascii") as file:
            file.write(text)
        subprocess.run(["riscv64-linux-gnu-gcc", "-O1", source, "-o", os.path.join(folder, out), *more], check=True)
    return path


def run(name, *options, path=None, cpu="rv64,v=true,vlen=256"):
    """Returns (direction, address, size, data) of all accesses: those of the plugin, and those of the trace."""
    log, trace = (os.path.join(scratch(), name + end) for end in (".log", ".ntrace"))
    qemu = ("-B", f"{BASE:#x}", "-plugin", f"{PLUGIN},out={log},base={BASE:#x}")
    Run("run", "--cpu", cpu, *(f"--qemu-option={option}" for option in qemu), *options, "-o", trace, "--", path or program(name))
    with open(log, "rb") as file:
        truth = [("write" if store else "read", address, size, low)
                 for address, low, _, _, size, store in struct.iter_unpack("<QQQIHH", file.read())]
    rows = Run("decode", trace, "--show", "data", "--format", "jsonl").rows()
    return truth, [(row["name"], int(row["address"], 16), row["data_size"], int(row["data"], 16)) for row in rows]


def same(found, truth, what):
    same_items(found, truth, f"{what}: access")


@case("every access of a program, from its first instruction to its end")
def _():
    for name, options in (("static", ()), ("pie", ()), ("vector", ()), ("static", ("--mode", "btm", "--timestamps")),
                          ("static", ("--all-jumps",)), ("static", ("--dialect", "ctte"))):
        truth, found = run(name, "--data", *options)
        equal(len(truth) > 5000, True, f"{name}: enough accesses")
        equal({size for _, _, size, _ in truth}, {1, 2, 4, 8}, f"{name}: sizes")
        same(found, truth, f"{name} {' '.join(options)}")


@case("every access of a program of RV32")
def _():
    need("qemu-riscv32")
    for options in ((), ("--mode", "btm"), ("--dialect", "ctte")):
        truth, found = run("narrow", "--data", *options, cpu="rv32")
        equal(len(truth) > 1500, True, f"{len(truth)} accesses")
        equal({size for _, _, size, _ in truth}, {1, 2, 4, 8}, "sizes")
        same(found, truth, f"RV32 {' '.join(options)}")


@case("accesses of an object of a shared library")
def _():
    truth, found = run("calling", "--data-range", "shared", path=calling("calling"))
    own, first = 2 * sum(range(1, 40, 3)), min(row[1] for row in found)
    truth = [row for row in truth if first <= row[1] < first + 64]
    equal(own <= len(found) <= len(truth), True, f"{len(found)} accesses: the library makes {own}, it and the dynamic linker {len(truth)}")
    same(found, truth[-len(found):], "library")


@case("an object that no file has: said before the start of a static program, at the end of a dynamic one")
def _():
    end = Run("run", "--data-range", "nowhere", "-o", os.path.join(scratch(), "no.ntrace"), "--", program("static"), status=2)
    equal("'nowhere': no object with this name and a size in the program" in end.err, True, end.err)
    end = Run("run", "--data-range", "nowhere", "-o", os.path.join(scratch(), "no.ntrace"), "--", program("pie"))
    equal("no file of the program has the object 'nowhere' of --data-range; no load or store was traced" in end.err, True, end.err)


@case("accesses of an object, also of a PIE: those of all others at the address that QEMU gave it")
def _():
    for name in ("static", "pie"):
        truth, found = run(name, "--data-range", "table")
        names = subprocess.run(["riscv64-linux-gnu-nm", program(name)], capture_output=True, text=True, check=True).stdout
        linked = next(int(line.split()[0], 16) for line in names.splitlines() if line.endswith(" table"))
        first = found[0][1] if found and name == "pie" else linked
        equal((first - linked) % 4096, 0, f"{name}: table begins at {first:#x}, linked to {linked:#x}")
        equal(name == "pie", first != linked, f"{name}: loaded elsewhere")
        same(found, [row for row in truth if first <= row[1] < first + 512], name)


@case("the object is found anew in a child process and in the program that it executes")
def _():
    trace = os.path.join(scratch(), "family.ntrace")
    Run("run", "--data-range", "table", "--follow-fork", "-o", trace, "--", program("family", "family.c"))
    found = [[(row["name"], int(row["address"], 16) % 64 // 8, int(row["data"], 16)) for row in
              Run("decode", bundle, "--show", "data", "--format", "jsonl").rows()]
             for bundle in [trace] + glob.glob(os.path.join(scratch(), "family.*.ntrace"))]
    first = found[0][0][1]
    found = [[(name, (place - first) % 8, data) for name, place, data in rows] for rows in found]
    equal(found, [[("write", 0, 1), ("write", 2, 22)], [("write", 1, 11), ("write", 0, 2)]], "parent, child")


@case("a small PIE, whose segments share a page of the file, is in the bundle once")
def _():
    trace = os.path.join(scratch(), "once.ntrace")
    Run("run", "-o", trace, "--", program("pie"))
    with open(os.path.join(trace, "capture.json"), encoding="utf-8") as file:
        names = [os.path.basename(image.get("name", "")) for image in json.load(file)["images"]]
    equal(names.count("pie"), 1, f"in {names}")


if __name__ == "__main__":
    main()
