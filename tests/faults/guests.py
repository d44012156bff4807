#!/usr/bin/env python3
"""Each call of ext2fs and libarchive by `ntrace run --machine` fails once: guests.py NTRACE INJECTOR

A machine executes a page of a program that is in a file system or an archive. Either the bundle has that program, or a message says
what could not be read; the status is that of the machine. TAP on standard output.
"""
import gzip
import importlib.machinery
import importlib.util
import json
import os
import shutil
import subprocess
import sys

sys.path += [os.path.join(sys.path[0], "..", name) for name in ("", "machine")]
import qemu10
from harness import NTRACE, case, check, equal, main, matches, need, scratch, skip, write

INJECTOR = shutil.copy(sys.argv[2], scratch())  # LD_PRELOAD ends a name at a blank
TOOL = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "tools/fuzz_commands")
LOADER = importlib.machinery.SourceFileLoader("fuzz_commands", TOOL)
FUZZ = importlib.util.module_from_spec(importlib.util.spec_from_loader("fuzz_commands", LOADER))
LOADER.exec_module(FUZZ)


def programs():
    """The firmware, and the bytes of the program of the guest."""
    compiler, source = need("riscv64-linux-gnu-gcc"), write("machine.S", FUZZ.MACHINE.encode())
    made = []
    for name, address in ("firmware", "0x80000000"), ("prog", "0x10000"):
        made.append(os.path.join(scratch(), name))
        subprocess.run([compiler, "-nostdlib", "-static", "-Wl,--build-id=none", f"-Wl,-Ttext={address}", "-o", made[-1], source], check=True)
    with open(made[1], "rb") as file:
        return made[0], file.read()


def traced(firmware, files, only, faults):
    """Status, messages, whether the bundle has the program, and the number of calls of libraries."""
    bundle, counts = os.path.join(scratch(), "one.ntrace"), os.path.join(scratch(), "counts")
    shutil.rmtree(bundle, ignore_errors=True)
    done = subprocess.run([NTRACE, "run", "--machine", "virt", "--qemu", f"{qemu10.find()}/qemu-system-riscv64", "-o", bundle, "--files", files, firmware],
                          env=dict(os.environ, LD_PRELOAD=INJECTOR, FAULTS=faults, FAULTS_COUNT=counts, FAULTS_ONLY=only), stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=60, check=False)
    images = []
    if os.path.exists(bundle):
        with open(f"{bundle}/capture.json", encoding="utf-8") as file:
            images = [image.get("name") for image in json.load(file)["images"]]
    with open(counts, encoding="ascii") as file:
        return done.returncode, done.stderr.decode(errors="replace"), "/usr/bin/prog" in images, int(file.read().split()[4])


def each_call(firmware, files, only):
    status, messages, found, count = traced(firmware, files, only, "count")
    if "built without" in messages or "no libarchive" in messages:
        skip("build-feature")
    equal((status, found), (0, True), f"nothing fails: {messages}")
    check(count > 5, f"{count} calls")
    for n in range(1, count + 1):
        status, messages, found, _ = traced(firmware, files, only, f"lib:{n}")
        check(status in (0, 1, 2), f"{n} of {count}: status {status}: {messages}")
        if not found or status:
            matches("programs of the guest may have no names: ", messages, f"{n} of {count}: a reason")


@case("a file system of a guest: each call of ext2fs")
def _():
    if not qemu10.find():
        skip(qemu10.REASON)
    if not shutil.which("mkfs.ext4"):
        skip("mkfs")
    firmware, program = programs()
    root, image = os.path.join(scratch(), "root"), os.path.join(scratch(), "image")
    os.makedirs(f"{root}/usr/bin", exist_ok=True)
    with open(f"{root}/usr/bin/prog", "wb") as file:
        file.write(program)
    subprocess.run(["mkfs.ext4", "-q", "-d", root, image, "1M"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    each_call(firmware, image, "ext2fs")


@case("an archive of a guest, compressed: each call of libarchive")
def _():
    if not qemu10.find():
        skip(qemu10.REASON)
    firmware, program = programs()
    each_call(firmware, write("files.cpio.gz", gzip.compress(FUZZ.archive({"usr/bin/prog": program}))), "archive")


main()
