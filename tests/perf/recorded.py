"""Recordings of a small world (world.py): its programs, what its CPUs executed, and what is decoded of it."""
import os

from harness import Run, scratch, write
from world import KERNEL, PAGE, SRET, Program

BASE = 0x10000
ENCODE = ("--mode", "htm")


def programs(name="world"):
    """Two programs at the same addresses, a third one, a library, a kernel; in a folder that is the system's root."""
    root = os.path.join(scratch(), name)
    os.makedirs(root, exist_ok=True)
    world = {
        "first": Program("first", 3, BASE),
        "second": Program("second", 5, BASE),
        "third": Program("third", 2, BASE),
        "library": Program("library", 4, 0, kind=3),
        "other": Program("other", 6, 0, kind=3),
        "kernel": Program("kernel", 7, KERNEL, SRET),
    }
    for program in world.values():
        program.write(root)
    os.replace(os.path.join(root, "kernel"), os.path.join(root, "vmlinux"))
    return root, world


def encode(cpu, *options):
    path = write("ingress.csv", cpu.take().encode())
    return Run("encode", "--ingress", path, *ENCODE, *options).bytes


def executed(path, root, *options, status=0):
    """(source, address, symbol) of each instruction, and what was said."""
    run = Run("decode", path, "--show", "insn", "--format", "jsonl", "--sysroot", root, "--image-path", root, *options,
              status=status, env={"HOME": root})
    rows = [(row.get("src", 0), int(row["address"], 16), row.get("symbol", "").split("+")[0]) for row in run.rows()]
    return rows, run.err


def same(found, expected, what):
    """Lists that are too long to be shown."""
    for number, (one, other) in enumerate(zip(found + [None], expected + [None])):
        if one != other:
            context = expected[max(0, number - 2):number]
            raise AssertionError(f"{what}: instruction {number}, after {context}: expected {other}, found {one}")


def of_source(rows, source):
    return [row[1:] for row in rows if row[0] == source]


def true_rows(cpu):
    return [row[1:] for row in cpu.truth]


def judge(recording, cpu, root, name, pid):
    """The trace of one CPU, read out while `pid` runs: what is decoded is what the CPU executed."""
    recording.aux(encode(cpu, "--timestamps"), cpu.time, pid)
    rows, said = executed(write(name + ".data", recording.bytes()), root, "--timestamps")
    same(of_source(rows, 0), true_rows(cpu), said)


def map_program(recording, pid, program, time, address=None, **more):
    recording.mmap2(pid, program.address if address is None else address, PAGE, PAGE, "/" + program.name, time, **more)


def kernel_of(recording, kernel):
    recording.kernel(KERNEL, 0x200000, KERNEL)


def two_processes(recording, world, cpu, slices, contexts=None):
    """Slices of two processes at the same addresses, on CPU 0."""
    kernel = world["kernel"]
    names = {100: "first", 200: "second"}
    running = None
    for pid, times in slices:
        if running != pid:
            cpu.time += 100
            if running is not None:
                recording.switch(0, running, pid, cpu.time)
            cpu.time += 100
            cpu.switch((contexts or {}).get(pid, 0))
        running = pid
        cpu.user(pid, world[names[pid]], times, to=kernel)


SLICES = ((100, 3), (200, 2), (100, 5), (100, 1), (200, 9), (100, 2))


def begin_two(recording, world):
    kernel_of(recording, world["kernel"])
    for pid, name in ((100, "first"), (200, "second")):
        recording.comm(pid, name, 10)
        map_program(recording, pid, world[name], 20)
    recording.start(100, 500)
