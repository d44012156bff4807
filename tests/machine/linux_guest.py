"""A Linux guest under trace, for linux.py and linux_answers.py. Without --fetch, what is not in the cache is not fetched."""
import os
import subprocess
import sys

import harness
import qemu10
from harness import equal, scratch

FETCH = "--fetch" in sys.argv
LINUX = ["--append", "console=ttyS0 panic=-1 quiet", "--memory", "512M"]


def tool(name, *words):
    done = subprocess.run([os.path.join(qemu10.ROOT, "tools", name), *([] if FETCH else ["--offline"]), *words], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        harness.skip(done.stderr.strip())
    return done.stdout.strip()


def trace(*options, qemu=(), name="linux"):
    """Trace a machine to its end. The bundle, and what the console showed."""
    program = os.path.join(tool("fetch_qemu"), "qemu-system-riscv64")
    bundle = os.path.join(scratch(), f"{name}.ntrace")
    done = subprocess.run([harness.NTRACE, "run", "--machine", "virt", "--qemu", program, "-o", bundle, *options, "--", *qemu],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=3600)
    equal(done.returncode, 0, f"exit status; {done.stderr[-300:]}")
    return bundle, done.stdout.decode("utf-8", "replace").replace("\r", "")


def boot(*options, init=None, add=(), qemu=(), name="linux"):
    """Boot Linux. `init`: the script or program to execute; `add`: further files, PATH=FILE."""
    words = [*(["--init", init] if init else []), *(word for file in add for word in ("--add", file))]
    guest = tool("fetch_guest", *words, os.path.join(scratch(), f"guest-{name}"))
    return trace("--kernel", f"{guest}/kernel", "--initrd", f"{guest}/initrd.cpio", *LINUX, *options, qemu=["-no-reboot", *qemu], name=name)
