#!/usr/bin/env python3
"""`ntrace capture --linux` on a tree of files with the behaviour of Linux's CoreSight drivers (coresight_driver.c).

The trace is that of the samples; the bundle alone must give all their program counters.

usage: linux_files.py NTRACE DRIVER
"""
import os
import shutil
import signal
import struct
import subprocess
import sys
import time

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import NTRACE, Run, case, check, equal, main, matches, same_items, scratch, until
from samples import samples, truth

DRIVER = os.path.abspath(sys.argv[2])
DEVICES = "sys/bus/coresight/devices"
KERNEL = 0xffffffff80200000


def segments(elf):
    """(address, offset, size, executable) of the loadable segments of an ELF file, by their definition."""
    with open(elf, "rb") as file:
        data = file.read()
    start, size, count = struct.unpack_from("<Q", data, 32)[0], *struct.unpack_from("<HH", data, 54)
    for i in range(count):
        kind, flags, offset, address, _physical, length = struct.unpack_from("<IIQQQQ", data, start + i * size)
        if kind == 1:
            yield address, offset, length, bool(flags & 1), data[offset:offset + length]


class Tree:
    """The files of a K3 with encoders of CPU 1 and 5."""

    def __init__(self, trace="etr_dev.bin", kernel=True):
        self.root = os.path.join(scratch(), "tree")
        shutil.rmtree(self.root, ignore_errors=True)
        for cpu in 1, 5:
            self.put(f"{DEVICES}/encoder{cpu}/enable_source", "0\n")
            self.put(f"{DEVICES}/encoder{cpu}/cpu", f"{cpu}\n")
            self.put(f"{DEVICES}/encoder{cpu}/features/srcid", f"{cpu}\n")
            self.put(f"{DEVICES}/encoder{cpu}/features/srcb", "12\n")
            self.put(f"sys/devices/system/cpu/cpu{cpu}/online", "1\n")
        self.put(f"{DEVICES}/atbbridge5/traceid", "11\n")
        for sink in "tmc_etf0", "tmc_etr0":
            self.put(f"{DEVICES}/{sink}/enable_sink", "0\n")
            self.put(f"{DEVICES}/{sink}/buffer_size", "0x100000\n")
        self.put(".driver/log", "")
        shutil.copy(os.path.join(samples(), trace), self.path("dev/tmc_etr0"))
        self.put("sys/kernel/notes", "a build id")
        self.put("proc/modules", "")
        for pid, name in (2120, "progA"), (2121, "progB"):
            file = self.path(f"usr/bin/{name}")
            shutil.copy(os.path.join(samples(), "sysroot/usr/bin", name), file)
            lines = [f"{address & ~0xfff:x}-{(address + size + 0xfff) & ~0xfff:x} {'r-x' if runs else 'rw-'}p {offset & ~0xfff:08x} fe:00 7 /usr/bin/{name}"
                     for address, offset, size, runs, _data in segments(file)]
            self.put(f"proc/{pid}/maps", "\n".join(lines) + "\n")
            self.put(f"proc/{pid}/status", f"Name:\t{name}\nTgid:\t{pid}\nPid:\t{pid}\n")
        if kernel:
            self.kernel()

    def path(self, name):
        path = os.path.join(self.root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return path

    def put(self, name, text):
        with open(self.path(name), "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())

    def get(self, name):
        with open(self.path(name), encoding="ascii") as file:
            return file.read()

    def kernel(self):
        """/proc/kcore and /proc/kallsyms of the stand-in for a kernel."""
        parts = [one for one in segments(os.path.join(samples(), "sysroot/boot/vmlinux")) if one[3]]
        header, places, at = b"", b"", 64 + 56 * len(parts)
        for address, _offset, size, _runs, data in parts:
            places += struct.pack("<IIQQQQQQ", 1, 5, at, address, 0, size, size, 4096)
            header += data
            at += size
        ident = b"\x7fELF\x02\x01\x01" + bytes(9)
        self.put("proc/kcore", ident + struct.pack("<HHIQQQIHHHHHH", 4, 243, 1, 0, 64, 0, 0, 64, 56, len(parts), 0, 0, 0) + places + header)
        low, high = min(p[0] for p in parts), max(p[0] + p[2] for p in parts)
        self.put("proc/kallsyms", f"{low:016x} T _stext\n{low:016x} T handle_trap\n{high:016x} T _etext\n")

    def state(self):
        return {name: self.get(f"{DEVICES}/{name}") for name in
                ("encoder1/enable_source", "encoder5/enable_source", "tmc_etf0/enable_sink", "tmc_etr0/enable_sink", "tmc_etr0/buffer_size")}

    def log(self):
        return self.get(".driver/log").split("\n")[:-1]

    def environment(self):
        return {"LD_PRELOAD": DRIVER, "NTRACE_TREE": self.root, "ASAN_OPTIONS": "verify_asan_link_order=0"}

    def capture(self, *options, status=0, bundle="x.ntrace"):
        path = os.path.join(scratch(), bundle)
        shutil.rmtree(path, ignore_errors=True)
        return Run("capture", "--linux", "--root", self.root, "-o", path, *options, status=status, env=self.environment()), path


FOUND = {"encoder1/enable_source": "0\n", "encoder5/enable_source": "0\n", "tmc_etf0/enable_sink": "0\n", "tmc_etr0/enable_sink": "0\n",
         "tmc_etr0/buffer_size": "0x100000\n"}


def exact(bundle, name, hart, status=0):
    found, expected = Run("decode", bundle, "--src", hart, "--show", "pc", status=status).bytes, truth(name)
    same_items(found.split(), expected.split(), f"hart {hart}: program counter")


@case("all harts: order of the writes; the bundle alone gives all program counters, with names of processes and of the kernel")
def _():
    tree = Tree()
    run, bundle = tree.capture("--all", "--for", "20ms", "--buffer", "0x200000")
    equal(tree.log(), ["tmc_etr0/buffer_size 2097152", "tmc_etr0/enable_sink 1", "encoder1/enable_source 1", "encoder5/enable_source 1",
                       "encoder1/enable_source 0", "encoder5/enable_source 0", "tmc_etr0/enable_sink 0", "tmc_etr0/buffer_size 1048576"], "writes")
    equal(tree.state(), FOUND, "files afterwards")
    shutil.rmtree(tree.root)
    shutil.rmtree(samples() + "/sysroot/usr")
    for hart in 1, 5:
        exact(bundle, f"hart{hart}", hart)
    shutil.rmtree(samples())
    matches("handle_trap|_stext", Run("profile", bundle, "--top", 1000, "--format", "jsonl", status=None).out, "names of the kernel")
    matches(r"(?m)^0 - 2120 2120 2120 2120 progA$", open(os.path.join(bundle, "tasks"), encoding="ascii").read(), "tasks")
    check("less than the last millisecond" not in run.err, run.err)


@case("one hart, a buffer that is too small for a millisecond, CPU idle: warnings")
def _():
    tree = Tree()
    tree.put("sys/devices/system/cpu/cpuidle/current_driver", "sbi_cpuidle\n")
    tree.put(f"{DEVICES}/tmc_etr0/buffer_size", "0x10000\n")
    run, _bundle = tree.capture("--hart", 5, "--for", "20ms")
    matches(r"CPU idle is on \(sbi_cpuidle\).*cpuidle.off=1", run.err, "CPU idle")
    matches("the buffer of 65536 bytes may hold less than the last millisecond of 1 busy harts", run.err, "buffer")
    equal([line for line in tree.log() if "encoder1" in line or "buffer" in line], [], "other devices")


@case("a buffer that has wrapped: the barrier is taken off, and the loss is said")
def _():
    tree = Tree("etr_dev_wrapped.bin")
    run, bundle = tree.capture("--all", "--for", "20ms", status=1)
    matches("the buffer has wrapped: it holds the last 65536 bytes", run.err, "loss")
    for hart in 1, 5:
        exact(bundle, f"hart{hart}_wrapped", hart, status=1)


@case("a trace of the boot is only read")
def _():
    tree = Tree()
    tree.put(f"{DEVICES}/encoder5/enable_source", "1\n")
    tree.put(f"{DEVICES}/tmc_etr0/enable_sink", "1\n")
    matches("encoder5 traces already; --read-only reads", tree.capture("--hart", 5, status=2)[0].err, "not read-only")
    _run, bundle = tree.capture("--read-only")
    equal(tree.log(), [], "writes")
    exact(bundle, "hart5", 5)


FAULTS = [
    # what the driver does, options, sentence
    ({".driver/perf": ""}, ["--hart", 5], r"encoder5/enable_source: Device or resource busy: perf or another capture uses the sink"),
    ({".driver/memory": ""}, ["--hart", 5], "encoder5/enable_source: Cannot allocate memory: .*give a smaller --buffer"),
    ({".driver/denied": ""}, ["--hart", 5], "tmc_etr0/enable_sink: Permission denied: run as root"),
    ({".driver/read": ""}, ["--hart", 5], "/dev/tmc_etr0: Invalid argument"),
    ({"sys/devices/system/cpu/cpu5/online": "0\n"}, ["--hart", 5], "CPU 5 is offline; echo 1 > /sys/devices/system/cpu/cpu5/online"),
    ({}, ["--hart", 5, "--buffer", "5000"], "tmc_etr0/buffer_size: 0x1388 refused: expected a multiple of the page size"),
    ({}, ["--hart", 5, "--buffer", "0x170000000:0x1000"], "--buffer: with --linux, expected a size in bytes"),
    ({f"{DEVICES}/tmc_etf0/enable_sink": "1\n"}, ["--hart", 5], "tmc_etf0 is enabled as sink, before tmc_etr0 would be"),
    ({}, ["--hart", 6], "--hart 6: no encoder traces this CPU"),
    ({}, ["--hart", 5, "--sink", "etr"], "--sink: expected a device with enable_sink such as tmc_et.0, found 'etr'"),
    ({}, [], "expected --hart N or --all, or a program to trace"),
    ({"dev/tmc_etr0": ""}, ["--hart", 5], "/dev/tmc_etr0 is empty: nothing was stored"),
    ({"dev/tmc_etr0": bytes(64)}, ["--hart", 5], "/dev/tmc_etr0 holds no message"),
    ({}, ["--hart", 5, "--", "/nowhere/program"], "/nowhere/program: No such file or directory"),
    ({}, ["--read-only", "--hart", 5], "--read-only takes neither"),
]


@case("every refusal of a driver has its sentence; the devices are as they were")
def _():
    for files, options, sentence in FAULTS:
        tree = Tree()
        for name, text in files.items():
            tree.put(name, text)
        before = tree.state()
        run, bundle = tree.capture("--for", "10ms", *options, status=2)
        matches(sentence, run.err, str((files, options)))
        equal(tree.state(), before, f"files after {files} {options}")
        check(not os.path.exists(bundle), f"a bundle after {files}")


@case("no devices at all: the options of the kernel are named")
def _():
    tree = Tree()
    shutil.rmtree(tree.path("sys/bus"))
    matches("CONFIG_CORESIGHT.*RVTRACE_ENCODER", tree.capture("--hart", 5, status=2)[0].err, "no CoreSight")


@case("threads that have ended, code of the kernel that cannot be read: said, and the rest is there")
def _():
    tree = Tree(kernel=False)
    shutil.rmtree(tree.path("proc/2121"))
    run, bundle = tree.capture("--all", "--for", "10ms", status=1)
    matches("1 threads of the trace have ended before their mappings were read", run.err, "threads")
    matches("/proc/kallsyms has no addresses.*give -e vmlinux", run.err, "kernel")
    check(len(Run("decode", bundle, "--src", 5, "--show", "pc", status=1).lines()) > 1000, "what is there")
    shutil.copy(os.path.join(samples(), "sysroot/usr/bin/progB"), os.path.join(scratch(), "progB"))
    _run, bundle = tree.capture("--all", "--for", "10ms", "-e", os.path.join(samples(), "sysroot/boot/vmlinux"), status=1)
    check(len(Run("decode", bundle, "--src", 1, "--show", "pc", status=None).lines()) > 10000, "with a kernel that was given")


@case("a program is traced from its first instruction to its end; its threads and status are kept")
def _():
    tree = Tree()
    run, bundle = tree.capture("--hart", 1, "--", sys.executable, "-c", f"""
import os, threading
state = open({tree.path(DEVICES + '/encoder1/enable_source')!r}).read()
threading.Thread(target=print, args=("traced", state)).start()
raise SystemExit(7)""", status=None)
    check(run.status in (0, 1), run.err)
    matches("traced 1", run.out, "trace runs with the first instruction of the program")
    matches('"status": 7', open(os.path.join(bundle, "capture.json"), encoding="utf-8").read(), "status")
    equal(tree.state(), FOUND, "files afterwards")


def started(tree, *options):
    done = subprocess.Popen([NTRACE, "capture", "--linux", "--root", tree.root, "-o", os.path.join(scratch(), "i.ntrace"), "--all", *options],
                            env=dict(os.environ, **tree.environment()), stderr=subprocess.PIPE)
    try:
        until(lambda: "encoder5/enable_source 1" in tree.log(), "trace that runs", 20)
    except BaseException:
        done.kill()
        raise
    return done


@case("an interrupt ends the capture and keeps it; after a kill, the devices are as they were, and a program goes on")
def _():
    tree = Tree()
    done = started(tree)
    done.send_signal(signal.SIGINT)
    text = done.communicate(timeout=60)[1].decode()
    equal((done.returncode, tree.state()), (0, FOUND), f"after an interrupt: {text}")
    exact(os.path.join(scratch(), "i.ntrace"), "hart5", 5)
    for program in False, True:
        tree, marker = Tree(), os.path.join(scratch(), "ended")
        done = started(tree, *(["--", "sh", "-c", f"sleep 1; touch {marker}"] if program else []))
        time.sleep(0.1)
        done.kill()
        done.communicate(timeout=60)
        until(lambda t=tree: t.state() == FOUND, lambda t=tree: f"the devices as they were, found {t.state()}", 20)
        if program:
            until(lambda m=marker: os.path.exists(m), "the end of the program", 20)


@case("--perf records through perf's event of the sink")
def _():
    tree, log = Tree(), os.path.join(scratch(), "arguments")
    folder = os.path.join(scratch(), "bin")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "perf"), "w", encoding="ascii") as file:
        file.write(f"#!/bin/sh\necho \"$@\" > {log}\n")
    os.chmod(os.path.join(folder, "perf"), 0o755)
    for options, expected in ([], "--per-thread"), (["--hart", "5"], "-C 5"), (["--all"], "-a"):
        Run("capture", "--linux", "--root", tree.root, "--perf", "-o", "p.data", *options, "--", "true", "x",
            env={"PATH": folder + ":" + os.environ["PATH"]})
        with open(log, encoding="ascii") as file:
            equal(file.read().strip(), f"record -e rvtrace/@tmc_etr0/ -o p.data {expected} -- true x", "arguments of perf")


main()
