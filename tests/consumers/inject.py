#!/usr/bin/env python3
"""`perf inject` of Debian 13 copies recordings of a SpacemiT K3: the copies decode to the same instructions.

usage: inject.py NTRACE
"""
import os
import subprocess
import sys

sys.path += [os.path.join(sys.path[0], ".."), os.path.join(sys.path[0], "..", "k3")]
from harness import Run, case, check, equal, main, scratch
from samples import samples, truth
from unpacked import perf


@case("build ids of what has samples", "-b")
@case("build ids of all files", "--buildid-all")
@case("records of scheduling are merged", "-s")
def _(option):
    command, environment = perf()
    for name, source, expected in (("perf_cpu", ("--src", 5), "perf_cpu_5"), ("perf_thread", (), "perf_thread"), ("perf_system", ("--src", 1), "hart1")):
        out = os.path.join(scratch(), name + ".data")
        done = subprocess.run([*command, "inject", option, "-f", "-i", os.path.join(samples(), name + ".data"), "-o", out], capture_output=True, text=True,
                              env=dict(environment, HOME=scratch()), check=False)
        equal(done.returncode, 0, f"{name}: {done.stderr[-300:]}")
        found = Run("decode", out, "--sysroot", "sysroot", "--show", "pc", *source, cwd=samples(), env={"HOME": scratch()}).out
        check(found.encode() == truth(expected), f"{name}: program counters")


if __name__ == "__main__":
    main()
