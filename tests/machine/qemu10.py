"""QEMU 10, or why there is none. tools/fetch_qemu fetches it; tests use it when it is there, and use no network."""
import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NEVER = "no QEMU 10 or later for RISC-V machines here (tools/fetch_qemu fetches it)"


def version(program):
    try:
        text = subprocess.run([program, "--version"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=30).stdout
    except OSError:
        return (0, 0)
    found = re.search(r"version (\d+)\.(\d+)", text)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def find():
    """The folder with qemu-system-riscv64 and -riscv32, or None."""
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        if version(os.path.join(folder, "qemu-system-riscv64")) == (10, 0):
            return folder
    cache = os.environ.get("NTRACE_DEBIAN") or os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "ntrace/debian")
    folder = os.path.join(cache, "qemu", "run")
    return folder if version(os.path.join(folder, "qemu-system-riscv64")) == (10, 0) else None
