#!/usr/bin/env python3
"""Linux, and OpenSBI with U-Boot, under trace: every instruction of every hart and its privilege mode, as a plugin saw it that is called
at each instruction of the same run. Minutes of processor time: `make test-linux`. TAP.

usage: linux.py NTRACE PLUGIN SAME [--fetch]
"""
import os
import re
import subprocess
import sys

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli")]
import harness
import qemu10
from harness import case, check, equal, scratch

PLUGIN, SAME = (os.path.abspath(path) for path in sys.argv[2:4])
FETCH = "--fetch" in sys.argv
LINUX = ["--append", "console=ttyS0 panic=-1 nokaslr", "--memory", "512M"]


def tool(name, *words):
    done = subprocess.run([os.path.join(qemu10.ROOT, "tools", name), *([] if FETCH else ["--offline"]), *words], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        harness.skip(done.stderr.strip())
    return done.stdout.strip()


def trace(*options, qemu=(), truth=True):
    """Trace a machine beside the plugin, and compare. The bundle, and what the console showed."""
    program = os.path.join(tool("fetch_qemu"), "qemu-system-riscv64")
    bundle, file = os.path.join(scratch(), "linux.ntrace"), os.path.join(scratch(), "truth.txt")
    beside = ["-plugin", f"{PLUGIN},out={file}"] if truth else []
    done = subprocess.run([harness.NTRACE, "run", "--machine", "virt", "--qemu", program, "-o", bundle, *options, "--", *beside, *qemu],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=3600)
    equal(done.returncode, 0, f"exit status; {done.stderr[-300:]}")
    if truth:
        same = subprocess.run([SAME, bundle, file], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=3600)
        print("# " + same.stdout.strip().replace("\n", "\n# "))
        equal(same.returncode, 0, f"status of same_modes; {same.stdout}")
    return bundle, done.stdout.decode("utf-8", "replace")


def boot(*options, **more):
    guest = tool("fetch_guest", scratch())
    return trace("--kernel", f"{guest}/kernel", "--initrd", f"{guest}/initrd.cpio", *LINUX, *options, qemu=["-no-reboot"], **more)


def counts(bundle):
    text = subprocess.run([harness.NTRACE, "decode", bundle, "--output", "count"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return {name: int(value) for name, value in (line.split() for line in text.splitlines())}


OPTIONS = {"one hart": [], "one hart, BTM": ["--mode", "btm"], "one hart, --best": ["--best"], "one hart, repeatable": ["--repeatable"],
           "two harts": ["--harts", "2"]}
for word, given in OPTIONS.items():
    @case(f"Linux to power-off, {word}: every instruction and its mode")
    def linux(given=given):
        boot(*given)


@case("interrupts: not fewer than the kernel has counted, and few more: those of its end")
def interrupts():
    bundle, console = boot(truth=False)
    counted = sum(int(n) for n in re.findall(r"(?m)^ *\d+: +(\d+) ", console))
    traced = counts(bundle)["interrupts"]
    check(counted <= traced <= counted + counted // 4 + 100, f"the kernel counted {counted} interrupts, traced are {traced}")


@case("OpenSBI and U-Boot to its prompt: every instruction and its mode")
def u_boot():
    u_boot = os.path.join(tool("fetch_qemu"), "..", "usr/lib/u-boot/qemu-riscv64_smode/u-boot.bin")
    _, console = trace("--kernel", os.path.realpath(u_boot), "--for", "40s")
    check("U-Boot" in console, console[-500:])


harness.main()
