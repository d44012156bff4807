"""QEMU 10, or why there is none. tools/fetch_qemu fetches it; tests use it when it is there, and use no network."""
import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
API = os.environ.get("NTRACE_TEST_QEMU_API", "4")
REASON = {"4": "qemu-10", "7": "qemu-11"}[API]  # of a skip


def version(program):
    try:
        text = subprocess.run([program, "--version"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=30).stdout
    except OSError:
        return (0, 0)
    found = re.search(r"version (\d+)\.(\d+)", text)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def is_wanted(program):
    """QEMU 10.0; with NTRACE_TEST_QEMU_API=7, 11.1 or later, which has another plugin interface."""
    found = version(program)
    return found >= (11, 1) if API == "7" else found == (10, 0)


def find():
    """The folder with qemu-system-riscv64 and -riscv32, or None."""
    cache = os.environ.get("NTRACE_DEBIAN") or os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "ntrace/debian")
    for folder in [*os.environ.get("PATH", "").split(os.pathsep), os.path.join(cache, "qemu-sid" if API == "7" else "qemu", "run")]:
        if is_wanted(os.path.join(folder, "qemu-system-riscv64")):
            return folder
    return None
