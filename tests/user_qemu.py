"""The user mode QEMU that tests use: the one of PATH; with NTRACE_TEST_QEMU=10, or where that one has no plugins (Debian 13), the one that
tools/fetch_qemu --user has built. Put another one first in PATH to test with it."""
import os
import re
import subprocess
import sys

import harness


def has_no_plugins():
    """There is a QEMU, and it was built without plugins."""
    try:
        return b"-plugin" not in subprocess.run(["qemu-riscv64", "-h"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=30).stdout
    except OSError:
        return False


WANTED = os.environ.get("NTRACE_TEST_QEMU") == "10"
if WANTED or has_no_plugins():
    FOLDER = subprocess.run([os.path.join(harness.ROOT, "tools", "fetch_qemu"), "--user", "--offline"], stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, text=True, check=False).stdout.strip()
    if not FOLDER and WANTED:
        print(f"1..0 # SKIP qemu-user-10: {harness.reasons()['qemu-user-10']}")
        sys.exit()
    if FOLDER:
        os.environ["PATH"] = FOLDER + os.pathsep + os.environ["PATH"]


def version():
    try:
        text = subprocess.run(["qemu-riscv64", "--version"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=30).stdout
    except OSError:
        return (0, 0)
    found = re.search(r"version (\d+)\.(\d+)", text)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def plugin(path):
    """`path` is that of a plugin for version 1 of QEMU's interface, NAME-1.so: the same for this QEMU (plugins/qemu/api.h)."""
    api = 1 if version() < (9, 0) else 4 if version() < (11, 1) else 7
    return re.sub(r"-1\.so$", f"-{api}.so", path)


def single_step():
    """Options: each instruction is a block."""
    return ["-singlestep"] if version() < (8, 1) else ["-one-insn-per-tb"]


def repeatable(xlen=64):
    """Options: the kernel's random bytes are the same in every run, and so are the addresses of mappings (-R, since version 8.1)."""
    return ["-seed", "1", *(["-R", "0x4000000000"] if xlen == 64 and version() >= (8, 1) else [])]


def for_ntrace(options):
    """The same as options of `ntrace run`."""
    return [f"--qemu-option={option}" for option in options]


def plain_cpu(xlen=64):
    """Options: the CPU that `ntrace run` chooses for programs without other extensions."""
    return [] if version() < (9, 0) else ["-cpu", f"rv{xlen}"]
