#!/usr/bin/env python3
"""Files of a guest that are below the sysroot only: QEMU does not find them for `access`, which `ntrace run` says."""
import os
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import NTRACE, case, equal, main, matches, scratch, skip

PROGRAM = os.path.join(sys.argv[2], "sought")
MESSAGE = "the program asked for (.*), which is below the sysroot"


def run(*arguments):
    """Status, and the file that the message names, or ""."""
    if not os.path.exists(PROGRAM):
        skip("riscv-program")
    folder = os.path.join(scratch(), "root", "only", "below")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "pass"), "w", encoding="utf-8"):
        pass
    done = subprocess.run([NTRACE, "run", "-o", os.path.join(scratch(), "s.ntrace"), "-L", os.path.join(scratch(), "root"), "--", PROGRAM,
                           *arguments], capture_output=True, text=True, timeout=60)
    lines = [line for line in done.stderr.splitlines() if "below the sysroot" in line]
    return done.returncode, "\n".join(lines)


@case("the first file that a program does not find, although it is below the sysroot, is named when the program fails")
def named():
    status, message = run("3", "/etc", "/only/below/pass", "/only/below")
    equal(status, 3, "status")
    matches(f"^ntrace run: {MESSAGE.replace('(.*)', '/only/below/pass')}", message, "the message")
    equal(message.count("\n"), 0, "one line")


@case("no message: the program ends well, the file is nowhere, or it is here")
def silent():
    for arguments, expected in ((("0", "/only/below/pass"), 0), (("4", "/only/below/nothing"), 4), (("5", "/etc", PROGRAM), 0)):
        equal(run(*arguments), (expected, ""), " ".join(arguments))


main()
