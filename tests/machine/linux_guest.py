"""A Linux guest under trace, for linux.py, linux_answers.py and linux_names.py. Without --fetch, what is not in the cache is not fetched."""
import functools
import os
import re
import subprocess
import sys

import harness
import qemu10
from harness import equal, scratch

FETCH = "--fetch" in sys.argv
SUITE = os.environ.get("NTRACE_GUEST_SUITE") or "trixie"  # of Debian; tools/fetch_guest reads it, too
LINUX = ["--append", "console=ttyS0 panic=-1 quiet", "--memory", "512M"]


def tool(name, *words):
    done = subprocess.run([os.path.join(qemu10.ROOT, "tools", name), *([] if FETCH else ["--offline"]), *words], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        harness.note(done.stderr.strip())
        harness.skip(qemu10.REASON if name == "fetch_qemu" else "guest")
    return done.stdout.strip()


def emulator():
    """QEMU 10, or with NTRACE_TEST_QEMU_API=7 that of unstable."""
    return os.path.join(tool("fetch_qemu", *(["--sid"] if qemu10.API == "7" else [])), "qemu-system-riscv64")


COMPILER = "riscv64-linux-gnu-gcc"


@functools.cache
def compiled(name):
    """A program of the folder guest, at a fixed address."""
    harness.need(COMPILER)
    out = os.path.join(scratch(), name)
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "guest", f"{name}.c")
    subprocess.run([COMPILER, "-O2", "-g", "-static", "-no-pie", "-Wl,-Ttext-segment=0x40000000", "-o", out, source], check=True)
    return out


def address(program, symbol):
    """As a number of C."""
    names = subprocess.run(["riscv64-linux-gnu-nm", program], stdout=subprocess.PIPE, text=True, check=True).stdout
    return "0x" + re.search(rf"(?m)^([0-9a-f]+) . {symbol}$", names)[1]


def trace(*options, qemu=(), name="linux"):
    """Trace a machine to its end. The bundle, and what the console showed."""
    program = emulator()
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


@functools.cache
def kernel_symbols(*names):
    """Their addresses as the kernel itself prints them, as numbers of C."""
    init = os.path.join(scratch(), "symbols-init")
    with open(init, "w", encoding="utf-8") as file:
        file.write("#!/usr/bin/busybox sh\nbusybox mount -t proc proc /proc\n")
        file.write("".join(f"busybox grep ' {name}$' /proc/kallsyms\n" for name in names) + "busybox poweroff -f\n")
    guest = tool("fetch_guest", "--init", init, os.path.join(scratch(), "guest-symbols"))
    console = subprocess.run([emulator(), "-M", "virt", "-m", "512M", "-nographic", "-no-reboot",
                              "-kernel", f"{guest}/kernel", "-initrd", f"{guest}/initrd.cpio", "-append", LINUX[1]], stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600, check=False).stdout.decode("utf-8", "replace")
    return ["0x" + re.search(rf"(?m)^([0-9a-f]+) [tT] {name}\r?$", console)[1] for name in names]


# ---- a guest with Debian's Python and SQLite: shared libraries at other addresses in each process

PACKAGES = ["python3.13", "sqlite3"]
LIBRARIES = "libc.so.6 libm.so.6 libz.so.1 libexpat.so.1 libsqlite3.so.0 libreadline.so.8 libtinfo.so.6".split()
SCRIPT = """#!/usr/bin/busybox sh
busybox mount -t proc proc /proc
echo python $(PYTHONHOME=/usr python3.13 -S /work.py 30000)
echo sqlite $(sqlite3 :memory: 'with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000) select sum(i * i) from n')
echo python $(PYTHONHOME=/usr python3.13 -S /work.py 20000)
busybox cat /proc/interrupts
busybox poweroff -f
"""
WORK = "import sys\nprint(sum(i * i for i in range(int(sys.argv[1]))))\n"
PRINTED = ["python 8999550005000", "sqlite 41679167500", "python 2666466670000"]


def packages():
    """The folder with them."""
    return tool("debian_root", "--suite", SUITE, *PACKAGES)


def needed(program):
    """Where the guest has the shared libraries that a program names. Debian's sqlite3 has SQLite in itself in later suites."""
    text = subprocess.run(["riscv64-linux-gnu-readelf", "-d", os.path.join(packages(), program)], stdout=subprocess.PIPE, text=True, check=True).stdout
    return [f"lib/{'' if name.startswith('ld-') else 'riscv64-linux-gnu/'}{name}" for name in re.findall(r"\(NEEDED\).*\[(.*)\]", text)]


def programs():
    """The `init` and `add` of boot."""
    root = packages()
    init, work = (os.path.join(scratch(), name) for name in ("programs-init", "work.py"))
    for path, text in (init, SCRIPT), (work, WORK):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    files = {f"usr/bin/{name}": f"usr/bin/{name}" for name in ("python3.13", "sqlite3")}
    files |= {f"lib/riscv64-linux-gnu/{name}": f"usr/lib/riscv64-linux-gnu/{name}" for name in LIBRARIES}
    files["lib/ld-linux-riscv64-lp64d.so.1"] = "usr/lib/ld-linux-riscv64-lp64d.so.1"
    folder = "usr/lib/python3.13/encodings"
    files |= {f"{folder}/{name}": f"{folder}/{name}" for name in ("__init__.py", "aliases.py", "utf_8.py", "ascii.py")}
    add = [f"work.py={work}", *(f"{path}={os.path.join(root, file)}" for path, file in files.items())]
    return {"init": init, "add": add}
