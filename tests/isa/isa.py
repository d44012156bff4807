#!/usr/bin/env python3
"""Which instruction set a piece of code has: of an ELF file with attributes, of a raw image, of a file of 32 bits with code for RV64, of programs
under a kernel of another width, of vendors, of a log. files/ has streams whose program counters are known by reading the program.

usage: isa.py NTRACE
"""
import json
import os
import re
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
sys.path.append(os.path.join(sys.path[0], "..", "machine"))
import qemu10
from harness import NTRACE, Run, case, check, equal, main, matches, need, scratch, skip, until, write

FILES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "files")
RAW = ["--raw", "raw-xlen32.fw.bin@0x20000000"]


def text(name):
    with open(os.path.join(FILES, name), encoding="ascii") as file:
        return file.read()


def lines(name, content):
    return write(name, content.encode())


def run(*arguments, status=0, stdin=b""):
    return Run(*arguments, status=status, stdin=stdin, cwd=FILES)


# name: what is decoded, the list
DECODED = {
    "a raw image, --xlen 32": (["raw-xlen32.ir.nex", *RAW, "--xlen", "32", "--implicit-return", "full"], "raw-xlen32.want.pcs"),
    "a raw image, --xlen 32, no implicit returns": (["raw-xlen32.off.nex", *RAW, "--xlen", "32"], "raw-xlen32.want.pcs"),
    "a raw image, :isa=rv32imac": (["raw-xlen32.off.nex", RAW[0], RAW[1] + ":isa=rv32imac"], "raw-xlen32.want.pcs"),
    "a raw image, --isa rv32imac": (["raw-xlen32.off.nex", *RAW, "--isa", "rv32imac"], "raw-xlen32.want.pcs"),
    "RV64 code in a file of 32 bits": (["rv64ilp32.t.nex", "-e", "rv64ilp32.ilp32.elf"], "rv64ilp32.want.pcs"),
    "RV64 code in a file of 32 bits, --xlen 64": (["rv64ilp32.t.nex", "-e", "rv64ilp32.ilp32.elf", "--xlen", "64"], "rv64ilp32.want.pcs"),
    "table jumps, by the symbol": (["zcmt-stripped.t.nex", "-e", "zcmt-stripped.with-symbol.elf"], "zcmt-stripped.want.pcs"),
    "table jumps, by the section": (["zcmt-stripped.t.nex", "-e", "zcmt-stripped.stripped.elf"], "zcmt-stripped.want.pcs"),
    "branches of Zibi": (["zibi-branches.htm.nex", "-e", "zibi-branches.zibi.elf"], "zibi-branches.want.pcs"),
    "branches of Zibi, BTM": (["zibi-branches.btm.nex", "-e", "zibi-branches.zibi.elf"], "zibi-branches.want.pcs"),
    "branches of Andes, by the dialect": (["andes-branches.htm.nex", "-e", "andes-branches.andes.elf", "--dialect", "andes"], "andes-branches.want.pcs"),
    "branches of Andes, by --isa": (["andes-branches.htm.nex", "-e", "andes-branches.andes.elf", "--isa", "rv64gc_xandesperf"], "andes-branches.want.pcs"),
    "branches of Andes, by :isa": (["andes-branches.htm.nex", "-e", "andes-branches.andes.elf:isa=rv64gc_xandesperf5p0"], "andes-branches.want.pcs"),
}
for each_name, (each_given, each_list) in DECODED.items():
    @case(each_name)
    def decoded(given=each_given, listed=each_list):
        equal(run("decode", *given, "--show", "pc").out, text(listed), "program counters")


# name: the input and its program, the list
ENCODED = {
    "encode --raw, --xlen 32": (["--pc", "raw-xlen32.want.pcs", *RAW, "--xlen", "32"], ["--xlen", "32", *RAW], "raw-xlen32.want.pcs"),
    "encode, branches of Zibi": (["--pc", "zibi-branches.want.pcs", "-e", "zibi-branches.zibi.elf"], ["-e", "zibi-branches.zibi.elf"], "zibi-branches.want.pcs"),
    "encode, branches of Andes": (["--pc", "andes-branches.want.pcs", "-e", "andes-branches.andes.elf", "--dialect", "andes"],
                                  ["-e", "andes-branches.andes.elf", "--dialect", "andes"], "andes-branches.want.pcs"),
}
for each_name, (each_given, each_reading, each_list) in ENCODED.items():
    @case(f"{each_name}: without an interrupt, and back")
    def encoded(given=each_given, reading=each_reading, listed=each_list):
        stream = write("encoded.nex", run("encode", *given).bytes)
        check("BTYPE=3" not in run("dump", stream).out and "BTYPE=1" not in run("dump", stream).out, run("dump", stream).out)
        equal(run("decode", stream, *reading, "--show", "pc").out, text(listed), "program counters")


@case("Spike's log of Zcmp and Zcmt code with its program: the messages of the list of program counters")
def spike_zcmp():
    with open(os.path.join(FILES, "spike-log-zcmp.want.nex"), "rb") as file:
        equal(run("encode", "--spike-log", "spike-log-zcmp.spike.log", "-e", "spike-log-zcmp.zc.elf").bytes, file.read(), "the stream")


@case("addresses of RV32 that are sign-extended: lists, logs, diff")
def sign_extended():
    with open(os.path.join(FILES, "rv32-sign-extended-pcs.want.nex"), "rb") as file:
        wanted = file.read()
    elf, listed, log = ("rv32-sign-extended-pcs." + name for name in ("rv32.elf", "list.txt", "spike.log"))
    equal(run("encode", "-e", elf, "--pc", listed).bytes, wanted, "of the list")
    equal(run("encode", "-e", elf, "--spike-log", log).bytes, wanted, "of the log")
    equal(run("encode", "--spike-log", log, "--xlen", "32").bytes, wanted, "of the log alone")
    matches("same: 16 instructions", run("diff", "--pc-list", "rv32-sign-extended-pcs.want.nex", listed, "-e", elf).out, "diff")
    matches("line 1: expected --xlen or a program", run("encode", "--spike-log", log, status=2).err, "a log of which the width is not known")
    low, high = (int(line, 16) & 0xffffffff for line in (min(text(listed).split()), max(text(listed).split())))
    words = f"addr={low | 0xffffffff00000000:#x}-{high | 0xffffffff00000000:#x}"
    equal(run("encode", "-e", elf, "--pc", listed, "--filter", words).bytes, wanted, "a filter")
    matches("filter: expected a range of addresses of 32 bits", run("encode", "-e", elf, "--pc", listed, "--filter", "addr=0-0x180000000", status=2).err, "a filter of more bits")
    matches("line 1: expected an address of 32 bits, found '0x180000000'", run("encode", "-e", elf, "--pc", "-", status=2, stdin=b"0x180000000\n").err, "a longer address")


@case("addresses of images and names of RV32 that are sign-extended, before and after the width is known; longer ones are refused")
def placed():
    want, firmware = text("raw-xlen32.want.pcs"), "raw-xlen32.fw.bin"
    low = min(int(line, 16) for line in want.split())
    # The firmware, moved to the upper half of the address space: as a list of program counters, and encoded again.
    up = lambda pc: pc - 0x20000000 + 0x90000000
    pcs = lines("up.pcs", "".join(f"{up(int(line, 16)):#x}\n" for line in want.split()))
    moved = write("up.nex", run("encode", "--pc", pcs, "--raw", f"{firmware}@0x90000000", "--xlen", "32").bytes)
    expected = "".join(f"0x{up(int(line, 16)):x}\n" for line in want.split())
    check(low >= 0x20000000, f"{low:#x}")
    for words in (["--xlen", "32"], ["--isa", "rv32imac"]):
        equal(run("decode", moved, "--raw", f"{firmware}@0xffffffff90000000", *words, "--show", "pc").out, expected, words)
        equal(run("encode", "--pc", pcs, "--raw", f"{firmware}@0xffffffff90000000", *words).bytes, run("encode", "--pc", pcs, "--raw", f"{firmware}@0x90000000", *words).bytes, words)
    raw = ["--raw", f"{firmware}@0xffffffff90000000:isa=rv32imac"]
    equal(run("decode", moved, *raw, "--show", "pc").out, expected, ":isa")
    matches("expected a load address of 32 bits, found 0x190000000", run("decode", moved, "--raw", f"{firmware}@0x190000000", "--xlen", "32", status=2).err, "a longer one")
    names = "fw=" + lines("names.txt", "ffffffff90000000 T low\nffffffff90000800 T high\n")
    for words in ([*raw, "--symbols", names], ["--symbols", names, "--raw", raw[1].split(":")[0], "--xlen", "32"]):
        check([row for row in run("profile", moved, *words, "--format", "jsonl").rows() if row["function"] == "low"], words)
    matches("RV32 code after code or names at 0xffffffff90000000, which has more bits", run("decode", moved, "--symbols", names, *raw, status=2).err, "names first")


NARROW = """\t.option norelax
\t.globl _start
\t.type _start, @function
_start:
\tc.j done
\t.half 0x2505 # c.jal; of RV64, c.addiw a0, 1
\t.size _start, .-_start
\t.type done, @function
done:
\tc.nop
\tc.j done
\t.size done, .-done
"""


@case("the text of instructions is that of the ISA of their code: RV32 in object coverage, CM.PUSH in the place of C.FSDSP")
def disassembled():
    folder = scratch()
    lines("narrow.s", NARROW)
    subprocess.run([need("riscv64-linux-gnu-as"), "-g", "-march=rv32imac", "-mabi=ilp32", "narrow.s", "-o", "narrow.o"], cwd=folder, check=True)
    subprocess.run([need("riscv64-linux-gnu-ld"), "-melf32lriscv", "-Ttext=0x1000", "narrow.o", "-o", "narrow"], cwd=folder, check=True)
    elf = os.path.join(folder, "narrow")
    stream = write("narrow.nex", run("encode", "-e", elf, "--pc", "-", stdin=b"0x1000\n0x1004\n0x1006\n0x1004\n").bytes)
    found = run("decode", "spike-log-zcmp.want.nex", "-e", "spike-log-zcmp.zc.elf", "--show", "insn")
    if "no disassembly" in found.err:
        skip("build-llvm")
    shown = run("coverage", "--level", "object", stream, "-e", elf, "--format", "json")
    rows = [insn for function in json.loads(shown.out)["functions"] for part in function["not_executed"] for insn in part["instructions"]]
    equal([(row["address"], row["opcode"]) for row in rows], [("0x1002", "0x2505")], "what was not executed")
    matches("^jal ", rows[0]["text"], "C.JAL")
    matches(r"b842 +(cm\.push +\{ra\}, -16|\.insn 0xb842) ", found.out, "CM.PUSH")  # LLVM 18 knows it
    matches(r"be42 +(cm\.popret +\{ra\}, 16|\.insn 0xbe42) ", found.out, "CM.POPRET")


@case("names that are given for a time (:from, :until): each execution has the names of its time")
def names_for_a_time():
    # RET at 0x2000000a ends the messages at bytes 7, 10 and 14
    early, late = (f"{name}=" + lines(f"{name}.txt", f"2000000a T {name}_leaf\n") for name in ("early", "late"))
    words = ["raw-xlen32.off.nex", *RAW, "--xlen", "32", "--symbols", f"{early}:until=12", "--symbols", f"{late}:from=12"]
    wanted = ["early_leaf", "early_leaf", "late_leaf"]
    for threads in "1", "2":
        equal(re.findall(r"(?m)^0x2000000a .*<(\w+)>$", run("decode", *words, "--show", "insn", "-j", threads).out), wanted, "decode --show insn")
    equal(re.findall(r"call -> 0x2000000a <(\w+)>", run("decode", *words).out), wanted, "decode")
    rows = {row["function"]: row["calls"] for row in run("profile", *words, "--format", "jsonl").rows()}
    equal([rows["early_leaf"], rows["late_leaf"]], [2, 1], "profile")
    folded = run("flame", *words, "--to", "folded").out
    equal([int(re.search(rf"{name}_leaf (\d+)", folded)[1]) for name in ("early", "late")], [2, 1], "flame")


@case("a table jump without a table: the reason names the table")
def no_table():
    with open(os.path.join(FILES, "zcmt-stripped.stripped.elf"), "rb") as file:
        data = file.read().replace(b".riscv.jvt\0", b".riscv.xxx\0")
    elf = write("no-table.elf", data)
    found = run("decode", "zcmt-stripped.t.nex", "-e", elf, "--show", "pc", status=1)
    matches("the table of CM.JT, CM.JALT and EXEC.IT is not known", found.err, "the reason")
    table = re.search(r"\.riscv\.jvt\s+\w+\s+([0-9a-f]+)", subprocess.run(["riscv64-linux-gnu-readelf", "-SW", "zcmt-stripped.stripped.elf"], cwd=FILES,
                                                                        capture_output=True, text=True, check=True).stdout)[1]
    equal(run("decode", "zcmt-stripped.t.nex", "-e", f"{elf}:jvt=0x{table}", "--show", "pc").out, text("zcmt-stripped.want.pcs"), "with :jvt=")


@case("programs for RV32 under a kernel for RV64 are bound to their mode; else they are refused, with what to do")
def both_widths():
    kernel, user = "rv64-kernel-rv32-user.kernel64.elf", "rv64-kernel-rv32-user.user32.elf"
    stream = write("both.nex", run("assemble", "-", stdin=b"""ProgTraceSync SYNC=5 ICNT=0 FADDR=0x40000000
Ownership PROCESS=0x6
IndirectBranch BTYPE=0 ICNT=3 UADDR=0x40008000
Ownership PROCESS=0x2
ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=3 HIST=0x1
""").bytes)
    found = run("decode", stream, "-e", kernel, "-e", user + ":prv=U", "--implicit-return", "full", "--show", "pc", status=None)
    equal(found.out.split()[:2], ["0x80000000", "0x80000002"], f"the kernel: {found.err}")
    equal(found.out.split()[2:4], ["0x10000", "0x10002"], f"C.JAL of RV32: {found.out} {found.err}")
    check("0x10006" in found.out, "the function that C.JAL calls")
    error = run("decode", stream, "-e", kernel, "-e", user, status=2).err
    matches(r"RV32 code in an RV64 program; bind one of them to its context or mode \(:ctx=N, :prv=U\)", error, "the refusal")


@case("--isa: what it expects")
def refused():
    for text_, words in ("x86", "expected rv32"), ("rv32gc", "expected rv64"):
        matches(words, run("decode", "zibi-branches.htm.nex", "-e", "zibi-branches.zibi.elf", "--isa", text_, status=2).err, text_)
    matches("expected rv32... or rv64... after ':isa=', found 'gc'", run("decode", "raw-xlen32.off.nex", RAW[0], RAW[1] + ":isa=gc", status=2).err, ":isa")


ANDES = ["andes-branches.htm.nex", "-e", "andes-branches.andes.elf"]
OF_ANDES = "0x707f 0x{:x}05b branch offset=31|29-25|11-8<<1\n"


@case("--instructions: the branches of Andes as a user describes them")
def described():
    given = lines("andes.txt", "# nds.beqc, bnec, bbc and bbs\n" + "".join(OF_ANDES.format(funct3) for funct3 in (5, 6, 7)))
    equal(run("decode", *ANDES, "--instructions", given, "--show", "pc").out, text("andes-branches.want.pcs"), "program counters")
    wrong = lines("wrong.txt", "0x707f 0x505b branch\n")
    matches("wrong.txt: line 1: expected offset=FIELDS", run("decode", *ANDES, "--instructions", wrong, status=2).err, "a wrong line")
    matches("missing.txt", run("decode", *ANDES, "--instructions", "missing.txt", status=2).err, "no such file")
    for row, expected in (("0x1ffff 0x8482 return", "a MASK without bits behind the instruction, whose length is that of MATCH, found '0x1ffff'"),
                          ("0x707f 0x505b branch offset=32", "offset=FIELDS"), ("0x707f 0x505b branch offset=31|31", "offset=FIELDS"),
                          ("0x707f 0x505b branch offset=11-8|9", "offset=FIELDS"), ("0x707f 0x505b branch offset=CB", "offset=FIELDS"),
                          ("0xe003 0xc001 branch offset=B", "offset=FIELDS"), ("0xe003 0xc001 branch offset=16-15", "offset=FIELDS")):
        matches(f"malformed.txt: line 1: expected {re.escape(expected)}",
                run("decode", *ANDES, "--instructions", lines("malformed.txt", row + "\n"), status=2).err, row)


def assembled(name, source, march="rv64gc"):
    path = os.path.join(scratch(), name)
    subprocess.run([need("riscv64-linux-gnu-gcc"), "-nostdlib", "-static", f"-march={march}", "-Wl,--build-id=none", "-Wl,-Ttext=0x10000", "-x", "assembler", "-",
                    "-o", path], input=source.encode(), check=True)
    return path


# Ten passes of a loop with an instruction of custom-0, then one of custom-1.
CUSTOM = """.globl _start
_start: li a1, 10
1: .insn r 0x0b, 1, 0, a0, a0, a1
 addi a1, a1, -1
 bnez a1, 1b
 .insn r 0x2b, 0, 0, a0, a0, a1
 ecall
"""
OF_CUSTOM = [0x10000, *[0x10002, 0x10006, 0x10008] * 10, 0x1000a, 0x1000e]


@case("instructions of unknown class are reported by every command, with their number and the first one, until they are described")
def unknown():
    elf = assembled("custom.elf", CUSTOM)
    listed = lines("custom.pcs", "".join(f"0x{pc:x}\n" for pc in OF_CUSTOM))
    stream = os.path.join(scratch(), "custom.nex")
    Run("encode", "--pc", listed, "-e", elf, "-o", stream)
    for command in (["decode", "--show", "none"], ["decode", "--show", "insn"], ["decode", "--show", "count"], ["profile", "-j", "2"], ["profile", "--by", "line"],
                    ["flame", "--to", "folded"], ["report", "-o", lines("report.html", "")], ["timeline", "--to", "chrome"], ["stat"], ["export", "--to", "callgrind"]):
        found = Run(command[0], stream, "-e", elf, *command[1:], status=None)
        matches(r"instructions of unknown class at 2 addresses, the lowest 0x10002 \(00b5150b\)", found.err, " ".join(command))
    matches("instructions of unknown class at 2 addresses", "".join(json.loads(Run("profile", stream, "-e", elf, "--format", "json").out)["quality"]["losses"]), "JSON")
    equal(Run("decode", stream, "-e", elf, "--show", "none", "--isa", "rv64gc_xtheadba_xsmtvdot").err, "", "with the extensions of two vendors")
    equal(Run("decode", stream, "-e", elf, "--show", "none", "--instructions", lines("l.txt", "0x7f 0xb linear\n0x7f 0x2b linear\n")).err, "", "described")
    matches("at 1 address, the lowest 0x1000a", Run("decode", stream, "-e", elf, "--show", "none", "--isa", "rv64gc_xthead").err, "of one vendor")


@case("an instruction of unknown class that traps was not executed, and is not reported; one that jumps is sent like an indirect jump")
def traps():
    elf = assembled("trap.elf", ".globl _start\n_start: li a0, 1\n.insn r 0x0b, 1, 0, a0, a0, a1\n1: j 1b\n.balign 4\nh: li a0, 2\nj h\n")
    text_ = "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x8000\nIndirectBranch BTYPE={} ICNT={} UADDR=0x4\nProgTraceCorrelation EVCODE=4 CDF=1 ICNT=1 HIST=0x1\n"
    trap = write("trap.nex", run("assemble", "-", stdin=text_.format(2, 1).encode()).bytes)
    equal(Run("decode", trap, "-e", elf, "--show", "none").err, "", "a trap")
    jump = write("jump.nex", run("assemble", "-", stdin=text_.format(0, 3).encode()).bytes)
    found = Run("decode", jump, "-e", elf, "--show", "pc")
    equal(found.out.split(), ["0x10000", "0x10002", "0x10008"], "a jump")
    matches("at 1 address, the lowest 0x10002", found.err, "the warning")
    rule = lines("rule.txt", "0x707f 0x100b custom\n")
    equal(Run("decode", jump, "-e", elf, "--show", "pc", "--instructions", rule).out, found.out, "a class that may jump")
    rule = lines("rule.txt", "0x707f 0x100b linear\n")
    matches("does not fit the message", Run("decode", jump, "-e", elf, "--show", "pc", "--instructions", rule, status=1).err, "a class that does not jump")
    rule = lines("rule.txt", "0x707f 0x100b indirect-jump\n")
    listed = lines("jump.pcs", "0x10000\n0x10002\n0x10008\n")
    made = write("made.nex", Run("encode", "--pc", listed, "-e", elf, "--instructions", rule).bytes)
    equal(Run("decode", made, "-e", elf, "--instructions", rule, "--show", "pc").out, found.out, "and back")


# main calls f twice: by EXEC.IT with JAL from the table, and as usual.
EXEC = """.globl _start
_start: li a0, 0
 .2byte 0x8000
 .2byte 0x8010
 jal f
 ecall
.balign 8
f: addi a0, a0, 2
 ret
.section .exec.itable, "a"
 .4byte 0x00150513
 .4byte 0x010100ef
"""


@case("EXEC.IT executes the instruction of its table, which a section names; without the table the reason says so")
def exec_it():
    elf = assembled("exec.elf", EXEC)
    pcs = [0x10000, 0x10002, 0x10004, 0x10010, 0x10012, 0x10006, 0x10010, 0x10012, 0x1000a]
    listed = lines("exec.pcs", "".join(f"0x{pc:x}\n" for pc in pcs))
    stream = write("exec.nex", Run("encode", "--pc", listed, "-e", elf, "--implicit-return", "full").bytes)
    equal(Run("encode", "--pc", listed, "-e", elf).err, "", "no interrupt")
    found = Run("decode", stream, "-e", elf, "--implicit-return", "full", "--show", "pc")
    equal([int(pc, 16) for pc in found.out.split()], pcs[:-1], "program counters")
    equal(found.err, "", "nothing is unknown")
    with open(elf, "rb") as file:
        other = write("other.elf", file.read().replace(b".exec.itable\0", b".exec.xxxxxx\0"))
    matches("does not fit the message", Run("decode", stream, "-e", other, "--implicit-return", "full", "--show", "none", status=1).err, "taken for C.LBU")
    wanted = Run("decode", stream, "-e", other, "--isa", "rv64gc_xandescodense", "--implicit-return", "full", "--show", "none", status=1).err
    matches("the table of CM.JT, CM.JALT and EXEC.IT is not known", wanted, "the reason")


@case("a hardware loop ends the flow, as a gap with its reason")
def hardware_loops():
    source = ".globl _start\n_start: addi a0, a0, 1\n.4byte 0x00a2c62b\naddi a0, a0, 1\naddi a0, a0, 1\n1: j 1b\n"
    elf = assembled("loop.elf", ".option norvc\n" + source)
    stream = write("loop.nex", run("assemble", "-", stdin=b"ProgTraceSync SYNC=5 ICNT=0 FADDR=0x8000\nProgTraceSync SYNC=2 ICNT=80 FADDR=0x8008\n"
                                   b"ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=2 HIST=0x1\n").bytes)
    found = Run("decode", stream, "-e", elf, "--isa", "rv64gc_xcvhwlp", "--show", "pc", status=1)
    matches("a hardware loop begins: where it ends is in no instruction; execution unknown after 0x10004 until 0x10010", found.err, "the reason")
    equal(found.out.split(), ["0x10000", "0x10010"], "what is known")


CPU = "rv64,zcmp=true,zcmt=true,zcb=true,d=false,zcd=false"
for each_name in "popret", "jalt-popret":
    @case(f"run --machine with Zcmp and Zcmt, {each_name}: each instruction of QEMU's log")
    def machine(name=each_name):
        folder = qemu10.find() or skip(qemu10.REASON)
        qemu, elf = os.path.join(folder, "qemu-system-riscv64"), os.path.join(FILES, f"run-machine-zcmp.{name}.elf")
        log, bundle = os.path.join(scratch(), name + ".log"), os.path.join(scratch(), "zcmp.ntrace")
        command = [qemu, "-machine", "virt", "-cpu", CPU, "-bios", elf, "-display", "none", "-serial", "null", "-accel", "tcg,one-insn-per-tb=on", "-d",
                   "exec,nochain,int", "-D", log]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:  # not every program ends
            until(lambda: process.poll() is not None or os.path.exists(log) and os.path.getsize(log) > 100000, "instructions in QEMU's log")
        finally:
            process.terminate()
            process.wait()
        with open(log, encoding="utf-8") as file:
            expected = [f"0x{int(line.split('/')[1], 16):x}" for line in file if line.startswith("Trace") and line.endswith("\n")][:400]
        check(len(expected) > 30, f"{len(expected)} instructions in the log")
        for options in (["--implicit-return", "off"], [], ["--mode", "btm"]):
            started = Run("run", "-q", "--machine", "virt", "--qemu", qemu, "--cpu", CPU, *options, "--for", "2000", "-o", bundle, elf, status=None)
            if "built with -Dqemu-plugin" in started.err:
                skip("build-feature")
            found = Run("decode", bundle, "--show", "pc").out.split()[:len(expected)]
            equal(found, expected[:len(found)], f"{options}")
            check(len(found) > 30, f"{options}: {len(found)} instructions")


main()
