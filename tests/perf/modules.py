#!/usr/bin/env python3
"""perf.data: code, names and lines of kernel modules, whose files are relocatable, and of a copy of /proc/kcore.

The module is made by GNU as. Linux puts its sections with code one after the other where perf recorded the module, without .init.text
(kernel/module/main.c, layout_sections); GNU ld, told these addresses, says which bytes are there.

usage: modules.py NTRACE
"""
import functools
import gzip
import lzma
import os
import re
import shutil
import struct
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import Run, case, check, equal, main, matches, need, scratch, skip, write
from perf_file import KERNEL as MISC_KERNEL, NOBODY, File, text
from world import KERNEL, PAGE, Cpu, Program

BASE, LENGTH, RET, TIMES, RELEASE = 0xffffffff01e6c000, 0x12000, 0x00008067, 50, "6.18.3-k3"
CALL, TAIL, RETURN = 8, 10, 13  # itype: an indirect call, an indirect jump, a return
SOURCE = """\t.option norvc
\t.text
\t.globl work
\t.type work, @function
work:
\taddi a0, a0, 1
\tcall helper
\taddi a0, a0, 2
\tcall kernel_work
\ttail leave
\t.size work, .-work
\t.section .init.text, "ax"
start:
\tnop
\tnop
\tnop
\t.section .text.unlikely, "ax"
\t.globl helper
\t.type helper, @function
helper:
\taddi a1, a1, 3
\tret
\t.size helper, .-helper
\t.section .exit.text, "ax"
\t.balign 16
\t.globl leave
\t.type leave, @function
leave:
\taddi a2, a2, 4
\tret
\t.size leave, .-leave
"""
WORK, HELPER, LEAVE = BASE, BASE + 32, BASE + 48  # .exit.text is aligned to 16 bytes
LAYOUT = """SECTIONS {{ .text {:#x} : {{ *(.text) }} .text.unlikely {:#x} : {{ *(.text.unlikely) }} .exit.text {:#x} : {{ *(.exit.text) }}
.init.text 0xffffffff01f00000 : {{ *(.init.text) }} }}"""


def compiled(name, *words):
    need("riscv64-linux-gnu-ld")  # binutils
    return subprocess.run([f"riscv64-linux-gnu-{name}", *words], check=True, stdout=subprocess.PIPE, text=True).stdout


@functools.cache
def module():
    """The file, its build id, and {address: opcode} of its code where GNU ld puts it."""
    source, objects, linked = (os.path.join(scratch(), name) for name in ("virtio-disk.s", "virtio-disk.ko", "linked"))
    script = write("layout.ld", LAYOUT.format(WORK, HELPER, LEAVE).encode())
    with open(source, "w", encoding="ascii") as file:
        file.write(SOURCE)
    compiled("as", "-march=rv64imac_zicsr", "-mno-relax", "-g", "-o", objects + ".o", source)
    compiled("ld", "-r", "--build-id=0x" + "5a" * 20, "-o", objects, objects + ".o")
    compiled("ld", "--no-relax", "--defsym", f"kernel_work={KERNEL:#x}", "-e", "work", "-T", script, "-o", linked, objects + ".o")
    listing = compiled("objdump", "-d", linked)
    code = {int(at, 16): int(opcode, 16) for at, opcode in re.findall(r"(?m)^ *([0-9a-f]+):\s+([0-9a-f]{8})\b", listing)}
    return objects, bytes.fromhex("5a" * 20), code


def kernel():
    program = Program("kernel_work", 7, KERNEL)
    program.words[-1] = RET
    return program


def trace():
    """The stream, and the address and function of each instruction."""
    cpu, kernel_work = Cpu(), kernel()

    def block(address, count, kind, name):
        cpu.row(address, 2 * count, kind, 1)
        cpu.truth.extend((100, address + 4 * i, name) for i in range(count))

    for _ in range(TIMES):
        block(WORK, 3, CALL, "work")
        block(HELPER, 2, RETURN, "helper")
        block(WORK + 12, 3, CALL, "work")
        block(cpu.loop(100, kernel_work, 3, 1), 1, RETURN, "kernel_work")
        block(WORK + 24, 2, TAIL, "work")
        block(LEAVE, 2, RETURN, "leave")
    path = write("ingress.csv", cpu.take().encode())
    return Run("encode", "--ingress", path, "--mode", "htm").bytes, [row[1:] for row in cpu.truth], cpu.time


def record(name, folder, recorded, build_id=None, length=LENGTH, other=None, kernel_id=None, stream=None):
    """A recording with the module under a name of perf, in a file of its own folder."""
    stream, truth, time = stream or trace()
    recording = File()
    recording.info()
    recording.release(RELEASE)
    recording.kernel(KERNEL, 0x200000, KERNEL)
    if kernel_id:
        recording.build_id("[kernel.kallsyms]", kernel_id, True)
    for path in (recorded, *([other] if other else [])):
        identity = struct.pack("<BBH", len(build_id), 0, 0) + build_id.ljust(20, b"\0") if build_id else struct.pack("<IIQQ", 0, 0, 0, 0)
        body = struct.pack("<IIQQQ", NOBODY, 0, BASE, length, 0) + identity + struct.pack("<II", 5, 2) + text(path)
        recording.add(10, MISC_KERNEL | (1 << 14 if build_id else 0), body, NOBODY)
    recording.comm(100, "first", 10)
    recording.start(100, 500)
    recording.aux(stream, time + 100, 100)
    os.makedirs(os.path.join(folder, "boot"), exist_ok=True)
    with open(os.path.join(folder, "boot", "vmlinux"), "wb") as file:
        file.write(kernel().elf())
    return write(name, recording.bytes()), truth


def place(folder, path, pack=lambda data: data, source=None):
    path = os.path.join(folder, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(source or module()[0], "rb") as plain, open(path, "wb") as file:
        file.write(pack(plain.read()))


def new_folder(name):
    folder = os.path.join(scratch(), name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    return folder


def decode(path, folder, *options, status=0):
    run = Run("decode", path, "--show", "insn", "--format", "jsonl", "--sysroot", folder, *options, status=None, env={"HOME": folder})
    if "there is no libarchive" in run.err:
        skip("build-libarchive")
    equal(run.status, status, f"status of decode; {run.err[:600]}")
    return run


def with_lines(run):
    """The rows, or the case is skipped in a build that reads no lines."""
    if "no line information" in run.err:
        skip("build-dwarf")
    equal(run.status, 0, f"status; {run.err[-1000:]}")
    return run.rows()


def code_of_files():
    return module()[2] | {KERNEL + 4 * i: word for i, word in enumerate(kernel().words)}


def exact(path, truth, folder, *options, code=None):
    """Each instruction: its address, its function, and the bytes of GNU ld, or those of a copy of the memory."""
    code = code or code_of_files()
    rows = decode(path, folder, *options).rows()
    found = [(int(row["address"], 16), re.match(r"\w+", row["symbol"])[0].replace("_stext", "kernel_work"), int(row["opcode"], 16)) for row in rows]
    expected = [(at, name, code[at]) for at, name in truth]
    different = next((i for i, pair in enumerate(zip(found, expected)) if pair[0] != pair[1]), None)
    check(found == expected, f"{len(found)} of {len(expected)}; {different}: {different is not None and (found[different], expected[different])}")
    check(len(found) > 1000, "few instructions")


FORMS = {
    "by its path, in the sysroot": (f"/lib/modules/{RELEASE}/kernel/drivers/block/virtio-disk.ko", "lib/modules/{}/kernel/drivers/block/virtio-disk.ko", None),
    "compressed by xz": (f"/lib/modules/{RELEASE}/kernel/virtio-disk.ko.xz", "lib/modules/{}/kernel/virtio-disk.ko.xz", lzma.compress),
    "compressed by gzip": (f"/lib/modules/{RELEASE}/kernel/virtio-disk.ko.gz", "lib/modules/{}/kernel/virtio-disk.ko.gz", gzip.compress),
    "as [virtio_disk], by its build id in perf's folder": ("[virtio_disk]", ".debug/.build-id/5a/" + "5a" * 19 + "/elf", None),
}
for each_name, each_form in FORMS.items():
    @case(f"a module {each_name}: instructions, functions and bytes as GNU ld has them", *each_form)
    def found(recorded, path, pack):
        folder = new_folder("found")
        place(folder, path.format(RELEASE), *([pack] if pack else []))
        data, truth = record("module.data", folder, recorded, module()[1])
        exact(data, truth, folder)


@case("a module as [virtio_disk], without a build id: modules.dep of the recorded release says where its file is")
def listed():
    folder = new_folder("listed")
    place(folder, f"usr/lib/modules/{RELEASE}/extra/virtio-disk.ko.xz", lzma.compress)
    with open(os.path.join(folder, f"usr/lib/modules/{RELEASE}/modules.dep"), "w", encoding="ascii") as file:
        file.write("kernel/other.ko.xz:\nextra/virtio-disk.ko.xz: kernel/other.ko.xz\n")
    data, truth = record("module.data", folder, "[virtio_disk]")
    exact(data, truth, folder)
    exact(data, truth, new_folder("away"), "--image-path", os.path.join(folder, "boot"), "--image-path", os.path.join(folder, f"usr/lib/modules/{RELEASE}/extra"))


# Sections of modules of Debian's 6.12.117+deb13-riscv64: name, size, alignment, and where that kernel has put them, by its /proc/kallsyms.
DEBIAN = {
    "dm_mod": [(".text", 0x130e0, 4, 0), (".init.text", 0x6ba, 2, None), (".exit.text", 0x42, 2, 0x130e0), (".ref.text", 0xb8, 2, 0x13122)],
    "null_blk": [(".text", 0x6240, 4, 0), (".text.unlikely", 0xa8, 2, 0x6240), (".init.text", 0x248, 2, None), (".exit.text", 0x98, 2, 0x62e8)],
    "brd": [(".text", 0xab4, 4, 0), (".text.unlikely", 0x142, 2, 0xab4), (".exit.text", 0x3a, 2, 0xbf6), (".init.text", 0x148, 2, None)],
    "loop": [(".text", 0x3392, 2, 0), (".exit.text", 0xe6, 2, 0x3392), (".init.text", 0x140, 2, None)],
}


@case("sections are where Linux 6.12 has put those of modules of Debian")
def placed():
    folder = new_folder("placed")
    for name, sections in DEBIAN.items():
        source, cpu = write(f"{name}.s", b""), Cpu()
        with open(source, "w", encoding="ascii") as file:
            for number, (section, size, align, _) in enumerate(sections):
                file.write(f'\t.section {section}, "ax"\n\t.balign {align}\n\t.type f{number}, @function\nf{number}:\n\tret\n\t.skip {size - 2}\n\t.size f{number}, {size}\n')
        compiled("as", "-march=rv64imac_zicsr", "-mno-relax", "-o", source + ".o", source)
        compiled("ld", "-r", "-o", os.path.join(folder, f"{name}.ko"), source + ".o")
        starts = [(f"f{number}", BASE + offset) for number, (*_, offset) in enumerate(sections) if offset is not None] * 3
        for _, at in starts:
            cpu.rows.append(f"{at:#x},1,0,{RETURN},1,0,0,{cpu.time}")
            cpu.time += 10
        path = write("ingress.csv", cpu.take().encode())
        data, _ = record("placed.data", folder, f"/{name}.ko", length=0x20000, stream=(Run("encode", "--ingress", path, "--mode", "htm").bytes, None, cpu.time))
        found = [(row["symbol"], int(row["address"], 16)) for row in decode(data, folder).rows()]
        equal(found, starts, name)


@case("profile --by line: lines of the module's source, with the counts of the trace")
def lines():
    folder = new_folder("lines")
    place(folder, "virtio-disk.ko")
    data, _ = record("module.data", folder, "/virtio-disk.ko", module()[1])
    rows = with_lines(Run("profile", data, "--by", "line", "--format", "jsonl", "--sysroot", folder, status=None, env={"HOME": folder}))
    counts = {}
    for row in rows:
        if os.path.basename(str(row.get("file", ""))) == "virtio-disk.s":
            counts[SOURCE.splitlines()[row["line"] - 1].strip()] = row["self"]
    equal(counts, {"addi a0, a0, 1": TIMES, "call helper": 2 * TIMES, "addi a0, a0, 2": TIMES, "call kernel_work": 2 * TIMES, "tail leave": 2 * TIMES,
                   "addi a1, a1, 3": TIMES, "ret": TIMES, "addi a2, a2, 4": TIMES}, "instructions of each line")


@case("a file with another build id, one that is too large, one that is none, one that is not there: said, and a gap")
def refused():
    folder = new_folder("refused")
    place(folder, "virtio-disk.ko")
    data, truth = record("module.data", folder, "/virtio-disk.ko", b"\x11" * 20)
    gaps = decode(data, folder, status=1)
    matches("module virtio_disk: the file has another build id than the one that ran", gaps.err, "another build id")
    equal({row["symbol"].split("+")[0] for row in gaps.rows()} - {"kernel_work"}, set(), "functions of the module")
    for length in 40, 52:
        data, truth = record("module.data", folder, "/virtio-disk.ko", module()[1], length=length)
        matches("larger than the module virtio_disk that was loaded", decode(data, folder, status=1).err, "its size")
    place(folder, "virtio-disk.ko", source=os.path.join(folder, "boot", "vmlinux"))
    data, truth = record("module.data", folder, "/virtio-disk.ko")
    matches("module virtio_disk: its file is not a module", decode(data, folder, status=1).err, "not relocatable")
    os.unlink(os.path.join(folder, "virtio-disk.ko"))
    matches("module virtio_disk: the file is not there", decode(data, folder, status=1).err, "no file")
    data, truth = record("module.data", folder, "/virtio-disk.ko", other="/other.ko")
    matches("module virtio_disk and 1 more|another one was at the same address|module virtio_disk: the file is not there", decode(data, folder, status=1).err, "two")
    place(folder, "virtio-disk.ko")
    matches("module virtio_disk: another one was at the same addresses, and the recording does not say when; the code of neither is used",
            decode(data, folder, status=1).err, "two")


# ---- one module after another at the same addresses

OTHER = "\t.text\n\t.option norvc\n\t.globl other\n\t.type other, @function\nother:\n" + "\taddi a3, a3, 1\n" * 6 + "\tret\n\t.size other, .-other\n"


def one_after_another(folder, files=("virtio-disk.ko", "other.ko"), shift=0, dated=True, again=False):
    """virtio_disk, then other, whose addresses begin `shift` bytes later; with `again`, then virtio_disk again."""
    source, first, turn = write("other.s", OTHER.encode()), BASE + shift, Cpu()
    compiled("as", "-march=rv64imac_zicsr", "-mno-relax", "-o", source + ".o", source)
    for name in files:
        if name == "other.ko":
            compiled("ld", "-r", "-o", os.path.join(folder, name), source + ".o")
        else:
            place(folder, name)
    loads, truth = [("/virtio-disk.ko", BASE, 0)], []

    def run(address, blocks):
        for _ in range(TIMES):
            for at, count, kind, name in blocks:
                turn.row(address + at, 2 * count, kind, 1)
                truth.extend((address + at + 4 * i, name) for i in range(count))
    disk = [(0, 3, CALL, "work"), (HELPER - BASE, 2, RETURN, "helper")]
    run(BASE, disk)
    loads.append(("/other.ko", first, turn.time + 5))
    run(first, [(0, 7, RETURN, "other")])
    if again:
        loads.append(("/virtio-disk.ko", BASE, turn.time + 5))
        run(BASE, disk)
    path = write("ingress.csv", turn.take().encode())
    recording = File()
    recording.info()
    recording.kernel(KERNEL, 0x200000, KERNEL)
    for path_, address, time in loads:
        body = struct.pack("<IIQQQ", NOBODY, 0, address, LENGTH, 0) + struct.pack("<IIQQ", 0, 0, 0, 0) + struct.pack("<II", 5, 2) + text(path_)
        recording.add(10, MISC_KERNEL, body, NOBODY, time=time if dated else 0)
    recording.comm(100, "first", 10)
    recording.start(100, 500)
    recording.aux(Run("encode", "--ingress", path, "--mode", "htm", "--timestamps", "--sync-mode", "messages", "--sync-max", "0").bytes, turn.time + 100, 100)
    place(folder, "boot/vmlinux", lambda _: kernel().elf())
    return write("dated.data", recording.bytes()), truth


@case("one module after another at the same address: each is used for its time", 0, False, long=True)
@case("one module after another, whose addresses overlap", 0x2000, False, long=True)
@case("one module after another, and the first one again", 0, True)
def _(shift, again):
    folder = new_folder("dated")
    data, truth = one_after_another(folder, shift=shift, again=again)
    equal([(int(row["address"], 16), row["symbol"].split("+")[0]) for row in decode(data, folder, "--timestamps").rows()], truth, "instructions")


@case("one module after another, of which one has no file: the code of the other is not used for it", "virtio-disk.ko", long=True)
@case("one module after another: without the file of the first", "other.ko")
def _(file):
    folder = new_folder("dated")
    data, truth = one_after_another(folder, [file])
    found = [(int(row["address"], 16), row["symbol"].split("+")[0]) for row in decode(data, folder, "--timestamps", status=1).rows()]
    expected = [row for row in truth if (row[1] == "other") == (file == "other.ko")]
    check(len(found) > 0.8 * len(expected) and found == (expected[-len(found):] if file == "other.ko" else expected[:len(found)]),
          f"{len(found)} of {len(expected)} instructions: {found[:20]}")  # after a gap, from the next synchronizing message on
    data, truth = one_after_another(folder, [file], dated=False)
    run = decode(data, folder, "--timestamps", status=1)
    equal(run.rows(), [], "instructions without times")


# ---- copies of /proc/kcore

PATCHED = {KERNEL: 0x00128293, HELPER: 0x00358613}  # instructions that the kernel has changed: addi t0, t0, 1; addi a2, a1, 3
KERNEL_ID = kernel().build_id
SYMBOLS = [(KERNEL, "T _text"), (KERNEL, "T _stext"), (KERNEL, "T kernel_work"), (KERNEL + 0x100, "T _etext"), (WORK, "t work\t[virtio_disk]"),
           (HELPER, "t helper\t[virtio_disk]"), (LEAVE, "t leave\t[virtio_disk]")]


def kcore(segments):
    """A core file: a program header for each piece of memory."""
    at = 64 + 56 * len(segments)
    out = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 4, 243, 1, 0, 64, 0, 0, 64, 56, len(segments), 0, 0, 0)
    for address, memory in segments:
        out += struct.pack("<IIQQQQQQ", 1, 7, at, address, 0, len(memory), len(memory), PAGE)
        at += len(memory)
    return out + b"".join(memory for _, memory in segments)


def copy_memory(folder, symbols=None, notes=b""):
    code = code_of_files() | PATCHED
    memory = {KERNEL: bytearray(0x100) + notes, BASE: bytearray(0x100)}
    for address, opcode in code.items():
        start = max(first for first in memory if first <= address or first == BASE)
        if address - start < 0x100:
            struct.pack_into("<I", memory[start], address - start, opcode)
    place(folder, "kcore", lambda _: kcore([(at, bytes(part)) for at, part in memory.items()]))
    lines = "".join(f"{at:016x} {name}\n" for at, name in sorted(symbols or SYMBOLS))
    place(folder, "kallsyms", lambda _: lines.encode())
    return code


def recording_folder(name, kernel_id=None):
    """What `perf record --kcore` makes: a folder."""
    folder, away = new_folder(name), new_folder(name + "-away")
    data, truth = record("module.data", away, "[virtio_disk]", module()[1], kernel_id=kernel_id)
    shutil.rmtree(os.path.join(away, "boot"))
    shutil.move(data, os.path.join(folder, "data"))
    return folder, away, truth


@case("perf record --kcore: the bytes that ran, with the names of kallsyms, without any file")
def copied():
    folder, away, truth = recording_folder("copied")
    exact(folder, truth, away, code=copy_memory(os.path.join(folder, "kcore_dir")))


@case("a copy of kcore, with vmlinux and the file of the module: the bytes of the copy, and the lines of the files")
def copied_with_files():
    folder, away, truth = recording_folder("files")
    place(away, ".debug/.build-id/5a/" + "5a" * 19 + "/elf")
    place(away, "boot/vmlinux", lambda _: kernel().elf())
    exact(folder, truth, away, code=copy_memory(os.path.join(folder, "kcore_dir")))
    rows = with_lines(Run("profile", folder, "--by", "line", "--format", "jsonl", "--sysroot", away, status=None, env={"HOME": away}))
    counts = {row["line"]: row["self"] for row in rows if os.path.basename(str(row.get("file", ""))) == "virtio-disk.s"}
    equal(counts.get(SOURCE.splitlines().index("\taddi a1, a1, 3") + 1), TIMES, "executions of a line of the module")


@case("copies in perf's folder of build ids, and in a folder of --image-path")
def elsewhere():
    folder, away, truth = recording_folder("elsewhere", KERNEL_ID)
    code = copy_memory(os.path.join(away, "copy"))
    exact(folder, truth, away, "--image-path", os.path.join(away, "copy"), code=code)
    os.makedirs(os.path.join(away, ".debug", ".build-id"))
    shutil.move(os.path.join(away, "copy"), os.path.join(away, ".debug/[kernel.kcore]", KERNEL_ID.hex(), "2026010112000000"))
    exact(folder, truth, away, code=code)


@case("a copy of another start, or of another kernel, is not used, which is said")
def another():
    folder, away, _ = recording_folder("another")
    place(away, "boot/vmlinux", lambda _: kernel().elf())
    copy_memory(os.path.join(folder, "kcore_dir"), [(at + 0x1000, name) for at, name in SYMBOLS])
    matches("a copy of kcore is not of the kernel that ran, or of another start of it", decode(folder, away, status=1).err, "another start")
    notes = [(KERNEL + 0x100, "R __start_notes"), (KERNEL + 0x124, "R __stop_notes")]
    for found, status in ((KERNEL_ID, 0), (KERNEL_ID[::-1], 1)):
        folder, away, _ = recording_folder("another", KERNEL_ID)
        if status:
            place(away, "boot/vmlinux", lambda _: kernel().elf())
        copy_memory(os.path.join(folder, "kcore_dir"), SYMBOLS + notes, struct.pack("<III", 4, 20, 3) + b"GNU\0" + found)
        equal("is not of the kernel that ran" in decode(folder, away, status=status).err, status == 1, "what is said")


main()
