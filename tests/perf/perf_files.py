#!/usr/bin/env python3
"""perf.data as a file: its forms, the files it names, what is refused, and damage.

usage: perf_files.py NTRACE
"""
import os
import struct
import subprocess
import sys
import zlib

os.environ.pop("PERF_BUILDID_DIR", None)  # perf sets it for what it starts

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import Run, case, check, equal, main, matches, need, scratch, skip, write
from perf_file import XUANTIE, File, block_header, record
from recorded import BASE, SLICES, begin_two, encode, executed, kernel_of, of_source, programs, same, true_rows, two_processes
from world import PAGE, Cpu


def recorded_forms():
    """A recording of two processes, the folder of their programs, and what they executed."""
    root, world = programs()
    recording, cpu = File(attr_size=136), Cpu()
    recording.info()
    begin_two(recording, world)
    two_processes(recording, world, cpu, SLICES)
    recording.aux(encode(cpu, "--timestamps"), cpu.time, 200)
    return recording, root, true_rows(cpu)


def same_form(path, root, expected, what):
    rows, said = executed(path, root, "--timestamps", "--ts-width", "64", status=int(what == "cut off"))
    same(of_source(rows, 0), expected, f"{what}: {said}")


@case("the forms of the file: pipe, folder, cut-off recording, long attributes")
def _():
    recording, root, expected = recorded_forms()
    folder = os.path.join(scratch(), "folder.data")
    os.makedirs(folder)
    whole = recording.bytes()
    side, aux = recording.records[:-2], recording.records[-2:]
    recording.records = side
    with open(os.path.join(folder, "data"), "wb") as file:
        file.write(recording.bytes())
    with open(os.path.join(folder, "data.0"), "wb") as file:
        file.write(b"".join(aux))
    recording.records = side + aux
    forms = {"file": write("form.data", whole), "pipe": write("form.pipe", recording.pipe()), "folder": folder,
             "cut off": write("form.cut", recording.bytes(data_size=0))}
    for name, path in forms.items():
        same_form(path, root, expected, name)


@case("a file whose end is missing: commands that need no program say so, too; status 1")
def _():
    recording, _, _ = recorded_forms()
    whole = recording.bytes()
    path = write("short.data", whole[:sum(struct.unpack_from("<QQ", whole, 40)) - 8])  # inside the last AUX data
    for command in ["dump"], ["dump", "--format", "none"], ["stat"]:
        matches("the file is damaged, or its end is missing", Run(*command, path, status=1).err, command[0])


def packed_record(kind, data):
    """COMPRESSED, or COMPRESSED2 of perf 6.16 and later, whose size is a multiple of 8 bytes."""
    return record(81, 0, data) if kind == 81 else record(83, 0, struct.pack("<Q", len(data)) + data + bytes(-len(data) % 8))


@case("compressed records", 81)
@case("compressed records of perf 6.16 and later", 83)
def _(kind):
    recording, root, expected = recorded_forms()
    packed = subprocess.run([need("zstd"), "-c"], input=b"".join(recording.records[1:-1]), capture_output=True, check=True).stdout
    half = len(packed) // 2
    recording.records = [recording.records[0], packed_record(kind, packed[:half]), packed_record(kind, packed[half:]), recording.records[-1]]
    path = write("form.packed", recording.bytes())
    if "zstd is not built in" in Run("stat", path, status=None).err:
        skip("build-zstd")
    same_form(path, root, expected, "compressed")


@case("-e: a file with another build id than the recorded one of its name is not the program that ran; vmlinux too")
def _():
    root, world = programs("given")
    recording, cpu = File(), Cpu()
    recording.info()
    recording.comm(100, "first", 10)
    recording.mmap2(100, BASE, PAGE, PAGE, "/gone/first", 20, build_id=world["first"].build_id)
    kernel_of(recording, world["kernel"])
    recording.build_id("[kernel.kallsyms]", world["kernel"].build_id, kernel=True)
    cpu.user(100, world["first"], 4, to=world["kernel"])
    recording.aux(encode(cpu), cpu.time, 100)
    path = write("given.data", recording.bytes())
    for which, name in (("first", "first"), ("kernel", "vmlinux")):
        for other in (False, True):
            if other:
                world[which].build_id = bytes(range(20))
            given = write(name, world[which].elf())
            said = Run("decode", path, "--show", "count", "-e", given, status=None)
            if other:
                equal(said.status, 1, "status")
                matches(f"{name}.* is not the program that ran .build id differs", said.err, "another file")
                matches("records the build id of the program that ran: leave out -e, and name the folder of its files with --sysroot", said.err, "next step")
            else:
                check("not the program that ran" not in said.err, said.err)


@case("files: the sysroot, ~/.debug, --image-path; a file with another build id is refused")
def _():
    root, world = programs("files")
    recording, cpu = File(), Cpu()
    program = world["first"]
    recording.info()
    recording.comm(100, "first", 10)
    recording.mmap2(100, BASE, PAGE, PAGE, "/gone/first", 20, build_id=program.build_id)
    kernel_of(recording, world["kernel"])
    recording.build_id("[kernel.kallsyms]", world["kernel"].build_id, kernel=True)
    cpu.user(100, program, 4, to=world["kernel"])
    recording.aux(encode(cpu), cpu.time, 100)
    path = write("files.data", recording.bytes())
    rows, _ = executed(path, root)
    same(of_source(rows, 0), true_rows(cpu), "--image-path")
    kept = os.path.join(scratch(), "home", ".debug", ".build-id")
    for kept_program, name in ((program, "elf"), (world["kernel"], "vmlinux")):
        digits = kept_program.build_id.hex()
        place = os.path.join(kept, digits[:2], digits[2:])
        os.makedirs(place)
        with open(os.path.join(place, name), "wb") as file:
            file.write(kept_program.elf())
    run = Run("decode", path, "--show", "pc", env={"HOME": os.path.join(scratch(), "home")})
    equal([int(line, 16) for line in run.lines()], [row[1] for row in cpu.truth], "~/.debug")
    program.build_id = bytes(20)
    program.write(root)
    rows, said = executed(path, root, status=1)
    matches("/gone/first: the file has another build id", said, "another build id")
    os.remove(os.path.join(root, "first"))
    rows, said = executed(path, root, status=1)
    matches("/gone/first: the file is not there", said, "no file")


@case("[vdso] is found by its build id; it and anonymous memory are missed only where they were executed")
def _():
    root, world = programs("vdso")
    recording, cpu = File(), Cpu()
    program, other = world["first"], world["second"]
    recording.info()
    recording.comm(100, "first", 10)
    recording.mmap2(100, BASE, PAGE, PAGE, "/first", 20)
    recording.mmap2(100, BASE + 8 * PAGE, PAGE, 0, "[vdso]", 20, build_id=bytes(range(20)))
    recording.mmap2(100, BASE + 16 * PAGE, PAGE, 0, "//anon", 20)
    kernel_of(recording, world["kernel"])
    cpu.user(100, program, 4, to=world["kernel"])
    recording.aux(encode(cpu), cpu.time, 100)
    run = Run("decode", write("unused.data", recording.bytes()), "--sysroot", root, "--image-path", root, "--show", "pc")
    equal([int(line, 16) for line in run.lines()], [row[1] for row in cpu.truth], "not executed")
    equal(run.err, "", "nothing is missed")
    recording, cpu = File(), Cpu()
    recording.info()
    recording.comm(100, "first", 10)
    recording.mmap2(100, BASE, PAGE, PAGE, "[vdso]", 20, build_id=other.build_id)
    kernel_of(recording, world["kernel"])
    cpu.user(100, other, 4, to=world["kernel"])
    recording.aux(encode(cpu), cpu.time, 100)
    path = write("vdso.data", recording.bytes())
    said = Run("decode", path, "--image-path", root, "--show", "pc", status=1).err
    matches("no program image at this address; execution unknown after 0x10000", said, "executed, but not there")
    digits = other.build_id.hex()
    place = os.path.join(scratch(), "home-vdso", ".debug", ".build-id", digits[:2], digits[2:])
    os.makedirs(place)
    with open(os.path.join(place, "vdso"), "wb") as file:
        file.write(other.elf())
    run = Run("decode", path, "--image-path", root, "--show", "pc", env={"HOME": os.path.join(scratch(), "home-vdso")})
    equal([int(line, 16) for line in run.lines()], [row[1] for row in cpu.truth], "~/.debug")


@case("what is not N-Trace, or not perf.data, is refused with a word")
def _():
    recording = File("intel_pt", 9)
    recording.info(1)
    recording.aux(b"\x02\x82" * 40, 100, 1)
    run = Run("decode", write("pt.data", recording.bytes()), status=2)
    matches("expected N-Trace, found Intel PT", run.err, "Intel PT")
    recording = File()
    recording.comm(1, "x", 5)
    matches("expected AUX data, found none", Run("decode", write("no.data", recording.bytes()), status=2).err, "no AUX")
    matches("big-endian", Run("decode", write("be.data", b"2ELIFREP" + bytes(200)), status=2).err, "big-endian")
    matches("too short", Run("decode", write("short.data", b"PERFILE2" + (104).to_bytes(8, "little")), status=2).err,
            "short")


@case("damaged files: every byte of a small recording changed or cut, no crash")
def _():
    root, world = programs()
    recording, cpu = File(XUANTIE), Cpu()
    recording.info()
    begin_two(recording, world)
    two_processes(recording, world, cpu, SLICES[:2])
    recording.aux(block_header(timestamp_bits=40) + encode(cpu, "--timestamps"), cpu.time, 200)
    whole = recording.bytes()
    seed = zlib.crc32(whole)
    for turn in range(60):
        seed = (seed * 1103515245 + 12345) & 0x7fffffff
        place, value = seed % len(whole), seed >> 8 & 255
        damaged = whole[:place] + (b"" if turn % 3 == 0 else bytes([value]) + whole[place + 1:])
        Run("decode", write("damaged.data", damaged), "--show", "count", "--sysroot", root, status=None)


main()
