#!/usr/bin/env python3
"""BOLT 21 reads the records that BOLT 19 does, to the same profile, and rewrites a program with it.

usage: bolt.py NTRACE
"""
import os
import re
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import Run, case, check, equal, main, need, scratch, skip
from unpacked import whole

HERE = os.path.dirname(os.path.abspath(__file__))
OLD = "/usr/lib/llvm-19/bin"


def run(*command):
    done = subprocess.run(command, cwd=scratch(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    equal(done.returncode, 0, f"{command[0]}: {done.stdout[-500:]}")
    return done.stdout


@case("a static program", "-static", False)  # llvm-bolt 21 rewrites none: "Unsupported riscv relocation"
@case("a position-independent program", "-pie", True)
def _(form, rewrites):
    if not os.path.exists(OLD):
        skip("perf2bolt")
    new = {name: whole("bolt-21", "lib", "llvm-21", "bin", name) for name in ("perf2bolt", "llvm-bolt")}
    compiler, qemu = need("riscv64-linux-gnu-gcc"), need("qemu-riscv64")
    run(compiler, "-O1", "-g", form, "-Wl,-q", os.path.join(HERE, "..", "analysis", "work.c"), "-o", "work")
    Run("run", "-q", "-o", "work.ntrace", "--", "./work", cwd=scratch(), env={"QEMU_LD_PREFIX": "/usr/riscv64-linux-gnu"})
    Run("export", "--to", "bolt", "-o", "work.txt", "work.ntrace", cwd=scratch())
    profiles = []
    for tool in ([os.path.join(OLD, "perf2bolt")], new["perf2bolt"]):
        said = run(*tool, "-p", "work.txt", "-pa", "-o", "work.fdata", "work")
        share = float(re.search(r"mismatching disassembled function contents: \d+ \(([\d.]+)%\)", said)[1])
        check(share < 1, said)
        with open(os.path.join(scratch(), "work.fdata"), encoding="utf-8") as file:
            profiles.append(sorted(file))
    equal(profiles[1], profiles[0], "profiles of both versions")
    check(len(profiles[0]) > 20, "lines of the profile")
    if rewrites:
        run(*new["llvm-bolt"], "work", "-o", "layout", "-data=work.fdata", "-reorder-blocks=ext-tsp", "-reorder-functions=hfsort")
        equal(run(qemu, "-L", "/usr/riscv64-linux-gnu", "./layout"), run(qemu, "-L", "/usr/riscv64-linux-gnu", "./work"), "what both print")


if __name__ == "__main__":
    main()
