#!/usr/bin/env python3
"""Length, class and target of instructions in the library, compared with disassemblers.

usage: insn.py CLASSIFY

Every 16-bit encoding, and some fifty thousand longer ones, for RV32 and RV64, by llvm-objdump and by GNU
objdump. The disassembler's text is turned into what classify.c prints; the rules of N-Trace 1.0 section 1.3
are listed here independently. TAP on standard output."""
import os
import random
import re
import shutil
import struct
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
import harness
from harness import case, check, equal, need, note, scratch

LEAST = 10000  # instructions that a disassembler lists
BASE = 0x7ffff000  # targets before, after and, on RV32, across the sign bit
LINK = ("x1", "x5")
# Encodings that change the flow but that a disassembler does not know.
UNKNOWN = {"70200073": "itype 3", "00200073": "itype 3"}
BRANCH_OF_VENDOR = re.compile(r"(nds\.b(eqc|nec|bc|bs)|cv\.b(eq|ne)imm|qc\.(e\.)?b(eq|ne|lt|ge|ltu|geu)i)$").match


def number(text):
    return int(text, 0)


def jal(rd, target):
    return f"itype {9 if rd in LINK else 11 if rd == 'x0' else 15} {rd} {target:x}"


def jalr(rd, rs1, offset):
    if rs1 in LINK and rd != rs1:
        itype = 12 if rd in LINK else 13
    else:
        itype = 8 if rd in LINK else 10 if rd == "x0" else 14
    return f"itype {itype} {rd} {rs1} {offset}"


def constant(rd, value, xlen):
    return "linear" if rd == "x0" else f"{rd}={value % 2**xlen:x}"


def upper(text):
    value = number(text) & 0xfffff
    return (value - (value >> 19 << 20)) << 12


def classify(pc, encoding, mnemonic, operands, xlen):
    """The output of classify.c that this line of disassembly requires."""
    o = [x.strip() for x in re.sub(r"\s*[<#].*", "", operands).split(",")] if operands else []
    base = mnemonic[2:] if mnemonic.startswith("c.") else mnemonic
    if base in ("beq", "bne", "blt", "bge", "bltu", "bgeu", "beqz", "bnez", "beqi", "bnei") or BRANCH_OF_VENDOR(mnemonic):
        return f"branch {int(o[-1], 16) % 2**xlen:x}"
    if mnemonic in ("jal", "c.j", "c.jal", "qc.e.j", "qc.e.jal"):
        return jal(o[0] if mnemonic == "jal" else "x1" if mnemonic.endswith("l") else "x0", int(o[-1], 16) % 2**xlen)
    if mnemonic == "jalr":
        offset, rs1 = re.fullmatch(r"(-?\w+)\((\w+)\)", o[1]).groups()
        return jalr(o[0], rs1, number(offset))
    if mnemonic in ("c.jr", "c.jalr"):
        return jalr("x1" if mnemonic == "c.jalr" else "x0", o[0], 0)
    if base == "lui" and not (mnemonic == "c.lui" and number(o[1]) == 0):  # reserved, though LLVM prints it
        return constant(o[0], upper(o[1]), xlen)
    if base == "auipc":
        return constant(o[0], pc + upper(o[1]), xlen)
    if base in ("ecall", "ebreak"):
        return "itype 1"
    if mnemonic in ("mret", "sret", "uret", "dret", "mnret", "qc.c.mret", "qc.c.mnret", "qc.c.mileaveret"):
        return "itype 3"
    if mnemonic in ("cm.popret", "cm.popretz", "qc.cm.popret", "qc.cm.popretz"):
        return "itype 13 x0 x1 0"
    if mnemonic in ("cm.jt", "cm.jalt"):
        return f"itype {11 if mnemonic == 'cm.jt' else 9} table {number(o[0])}"
    if len(encoding) == 8 and int(encoding, 16) & 0x707f in (0x2063, 0x3063):  # BEQI, BNEI: disassemblers before Zibi
        return f"branch {(pc + branch_offset(int(encoding, 16))) % 2**xlen:x}"
    return UNKNOWN.get(encoding, "linear")


def branch_offset(word):
    """Of format B (RISC-V unprivileged specification, "Base Instruction Formats")."""
    offset = (word >> 31) << 12 | (word >> 7 & 1) << 11 | (word >> 25 & 63) << 5 | (word >> 8 & 15) << 1
    return offset - 8192 if word >> 31 else offset


def halves():
    return [struct.pack("<H", x) for x in range(0x10000) if x & 3 != 3]


def words(rng):
    registers = (0, 1, 2, 5, 6, 10, 31)
    for opcode in (0x63, 0x6f, 0x67, 0x37, 0x17, 0x73):
        for funct3 in range(8):
            for rd in registers:
                for rs1 in registers:
                    for top in (0, 0x800, 0x7ff, rng.getrandbits(12)):
                        yield top << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode
    for _ in range(10000):
        yield rng.getrandbits(25) << 7 | rng.choice((0x63, 0x6f, 0x67, 0x37, 0x17))
    for _ in range(20000):
        yield rng.getrandbits(27) << 5 | rng.randrange(7) << 2 | 3
    yield from (0x73, 0x100073, 0x30200073, 0x10200073, 0x00200073, 0x70200073, 0x7b200073, 0x10500073, 0x12000073)


def longer(rng):
    """48 and more bits: the first halfword contains the length."""
    for _ in range(2000):
        yield struct.pack("<H", rng.getrandbits(10) << 6 | 0x1f) + rng.randbytes(4)
        yield struct.pack("<H", rng.getrandbits(9) << 7 | 0x3f) + rng.randbytes(6)
        n = rng.randrange(7)
        yield struct.pack("<H", rng.getrandbits(1) << 15 | n << 12 | rng.getrandbits(5) << 7 | 0x7f) + \
            rng.randbytes(8 + 2 * n)


def elf(code, xlen):
    """An ELF object with only .text."""
    wide = xlen == 64
    word = "Q" if wide else "I"
    head, names = (64 if wide else 52), b"\0.text\0.shstrtab\0"
    sections_at = (head + len(code) + len(names) + 7) // 8 * 8

    def section(name, kind, flags, address, offset, size):
        return struct.pack("<II" + word * 4 + "II" + word * 2, name, kind, flags, address, offset, size, 0, 0, 2, 0)

    table = section(0, 0, 0, 0, 0, 0) + section(1, 1, 6, BASE, head, len(code)) + \
        section(7, 3, 0, 0, head + len(code), len(names))
    header = b"\x7fELF" + bytes([2 if wide else 1, 1, 1]) + bytes(9) + \
        struct.pack("<HHI" + word * 3 + "I6H", 2, 243, 1, 0, 0, sections_at, 0, head, 0, 0, 64 if wide else 40, 3, 2)
    return (header + code + names).ljust(sections_at, b"\0") + table


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


LINE = re.compile(r"\s*([0-9a-f]+):\s+((?:[0-9a-f]{4,8} )*[0-9a-f]{4,8})\s+(\S+)(?:\s+(.*))?$")


def disassembly(tool, extensions, code, xlen):
    """(address, size, encoding, mnemonic, operands) of each instruction."""
    path = os.path.join(scratch(), "code")
    with open(path, "wb") as out:
        out.write(elf(code, xlen))
    command = [tool, "-d", "-M", "no-aliases", "-M", "numeric"]
    if "llvm" in tool:
        command += ["--mattr=" + extensions]
    behind = 0
    for line in run(*command, path).splitlines():
        found = LINE.match(line)
        if not found:
            continue
        address, encoding, mnemonic, operands = found.groups()
        pc, size = int(address, 16), len(encoding.replace(" ", "")) // 2
        if pc < behind:  # GNU objdump continues long encodings on a second line
            continue
        if mnemonic == ".insn" and re.match(r"\d+, ", operands or ""):  # binutils after 2.40 print its length
            size = int(operands.split(",")[0])
        if mnemonic == ".byte":
            size = operands.count(",") + 1
        behind = pc + size
        yield pc, size, encoding, mnemonic, operands or ""


def flat(code):
    path = os.path.join(scratch(), "flat")
    with open(path, "wb") as out:
        out.write(code)
    return path


def compare(ours, disassembled, code, wrong):
    """`ours`: the output of our program for each instruction. `wrong` returns what is wrong in it, or None."""
    count, bad = 0, []
    for line, (pc, size, *text) in zip(ours, disassembled):
        count += 1
        what = wrong(line, pc, size, *text)
        if what:
            at = pc - BASE
            bad.append(f"{code[at:at + size].hex()} {' '.join(text[1:])}: {what}, we say {line}")
    note(f"{count} instructions")
    check(LEAST < count == len(ours), f"{count} of {len(ours)} instructions compared")
    check(not bad, "\n".join(bad[:20]))


def judge(tool, extensions, isa, code):
    need(tool)
    xlen = int(isa[2:4])

    def wrong(line, pc, size, *text):
        want = f"{pc:x} {size} {classify(pc, *text, xlen)}"
        return None if line == want else f"{tool} says {want}"

    ours = run(sys.argv[1], flat(code), hex(BASE), isa).splitlines()
    compare(ours, disassembly(tool, extensions, code, xlen), code, wrong)


# Whole groups are standard (src/isa/standard.c): floating-point, vectors, with their loads and stores.
GROUPS = (0x07, 0x27, 0x43, 0x47, 0x4b, 0x4f, 0x53, 0x57, 0x77)


def groups(rng):
    """Words of every major opcode that is standard, and of some that are not; most of the values that select an instruction."""
    for _ in range(60000):
        word = rng.getrandbits(27) << 5 | rng.choice((0x00, 0x03, 0x04, 0x05, 0x06, 0x08, 0x0b, 0x0c, 0x0d, 0x0e, 0x18, 0x19,
                                                       0x1a, 0x1b, 0x1c, 0x1d)) << 2 & 0x1f | 3
        yield word
    for opcode in (0x03, 0x0f, 0x13, 0x1b, 0x23, 0x2f, 0x33, 0x3b, 0x63, 0x67, 0x73, 0x0b, 0x2b, 0x5b, 0x7b, 0x6b):
        for funct3 in range(8):
            for funct7 in range(128):
                for rs2 in (0, 1, 2, 4, 5, rng.randrange(32)):
                    yield funct7 << 25 | rs2 << 20 | rng.choice((0, 0, 5, 18)) << 15 | funct3 << 12 | rng.choice((0, 10, 9)) << 7 | opcode


def is_newer(word, size, xlen):
    """Standard, though LLVM 19 does not print it."""
    if size != 4:
        return False
    opcode, funct3 = word & 0x7f, word >> 12 & 7
    zilsd = xlen == 32 and opcode in (0x03, 0x23) and funct3 == 3
    fence = opcode == 0x0f and funct3 < 2  # reserved fields are to be ignored
    zalasr = opcode == 0x2f and word >> 27 in (6, 7)
    pairs = opcode == 0x2f and word >> 27 == 5  # AMOCAS with odd registers
    mop = word & 0xfe0fffff == 0xce004073  # MOP.RR.7, of which SSPUSH is a part
    return mop or word in DEFINED_ALSO or opcode in GROUPS or zilsd or fence or zalasr or pairs


def judge_standard(tool, extensions, isa, code):
    """An encoding that LLVM knows is standard; one that it does not know is unknown, but for the groups."""
    need(tool)

    def wrong(line, pc, size, encoding, mnemonic, operands):
        ours, word = line.split()[2], int(encoding.replace(" ", ""), 16)
        if mnemonic in ("<unknown>", ".word", ".half", ".byte", ".insn"):
            return None if ours == "unknown" or is_newer(word, size, int(isa[2:4])) else "unknown to LLVM"
        reserved = mnemonic == "c.lui" and number(operands.split(",")[1]) == 0
        # a distance of 32 and more is reserved in RV32, though LLVM prints it
        far = isa == "rv32" and mnemonic in SHIFTS and number(operands.split(",")[-1]) > 31
        return None if (ours == "standard") != (reserved or far) else "known to LLVM"

    lines = run(sys.argv[1], flat(code), hex(BASE), isa, "standard").splitlines()
    compare(lines, disassembly(tool, extensions, code, int(isa[2:4])), code, wrong)


def of_vendors(rng):
    """Words of custom-0 to custom-3 with most of the values that select an instruction, and instructions of 48 bits."""
    for opcode in (0x0b, 0x2b, 0x5b, 0x7b, 0x63):
        for funct3 in range(8):
            for funct7 in range(128):
                for _ in range(3):
                    yield struct.pack("<I", funct7 << 25 | rng.getrandbits(10) << 15 | funct3 << 12 | rng.choice((0, 10, rng.getrandbits(5))) << 7 | opcode)
    for _ in range(4000):
        yield struct.pack("<H", rng.getrandbits(10) << 6 | 0x1f) + rng.randbytes(4)


UNKNOWN_WORDS = ("<unknown>", ".word", ".half", ".byte", ".insn")


def judge_vendor(tool, extension, code):
    """The class of what LLVM knows; no instruction for which it prints a target, or that is a return by its name, is linear."""
    need(tool)
    name = extension.replace("experimental-", "")
    for xlen in (32, 64):
        attributes = f"+m,+a,+zca,+{extension}"

        def wrong(line, pc, size, encoding, mnemonic, operands, xlen=xlen):
            if mnemonic in UNKNOWN_WORDS:
                return None
            want = classify(pc, encoding, mnemonic, operands, xlen)
            if want == "linear" and (re.search(r"0x\w+ <", operands) or re.search(r"ret[z]?$", mnemonic)):
                return "changes the flow"
            return None if line == f"{pc:x} {size} {want}" else f"{tool} says {want}"

        def missing(line, pc, size, encoding, mnemonic, operands):
            zibi = name == "zibi" and mnemonic in ("beqi", "bnei")  # may be another instruction of an older core
            return None if mnemonic in UNKNOWN_WORDS or line.endswith("known") and not line.endswith("unknown") or zibi else "known to LLVM"

        theirs = list(disassembly(tool, attributes, code, xlen))
        for mode, judged in ([], wrong), (["known"], missing):
            compare(run(sys.argv[1], flat(code), hex(BASE), f"rv{xlen}_{name}", *mode).splitlines(), theirs, code, judged)


@case("GNU as: th.ipop and th.ipush of T-Head, which LLVM does not know", long=True)
def thead():
    path = os.path.join(scratch(), "thead.o")
    for name, wanted in ("th.ipop", "itype 3"), ("th.ipush", "linear"):
        subprocess.run([need("riscv64-linux-gnu-as"), "-march=rv64gc_xtheadint", "-o", path], input=f"{name}\n".encode(), check=True)
        subprocess.run(["riscv64-linux-gnu-objcopy", "-O", "binary", "-j", ".text", path, path + ".bin"], check=True)
        for isa, there in ("rv64gc_xtheadint", wanted), ("rv64gc", "linear"):
            equal(run(sys.argv[1], path + ".bin", hex(BASE), isa), f"{BASE:x} 4 {there}\n", f"{name}, {isa}")


def extensions_of_vendors():
    """Those that LLVM 22 knows, and Zibi."""
    if not shutil.which("llvm-mc-22"):
        return ["all"]
    listed = subprocess.run(["llvm-mc-22", "-triple=riscv32", "-mattr=help"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
    return re.findall(r"(?m)^ +((?:experimental-)?(?:x[a-z0-9]+|zibi)) +- '", listed.stdout + listed.stderr)


RATIFIED = ("+m,+a,+f,+d,+c,+h,+v,+zcb,+zba,+zbb,+zbc,+zbs,+zbkb,+zbkc,+zbkx,+zknd,+zkne,+zknh,+zksed,+zksh,+zicond,+zicbom,"
            "+zicbop,+zicboz,+zimop,+zcmop,+zawrs,+zacas,+zabha,+zfh,+zfa,+svinval,+experimental-zicfiss,+experimental-zalasr")
SHIFTS = ("c.slli", "c.srli", "c.srai", "slli", "srli", "srai", "bexti", "binvi", "bclri", "bseti", "rori")
DEFINED_ALSO = (0x70200073, 0x00200073, 0x10400073)
C = "+m,+a,+f,+d,+c,+v,+zcb,+zba,+zbb,+zbs,+svinval"
ZCM = "+m,+a,+zca,+zcb,+zcmp,+zcmt"


def main():
    rng = random.Random(1)
    short = b"".join(halves())
    long = b"".join([struct.pack("<I", w) for w in words(rng)] + list(longer(rng)))
    for tool in ("llvm-objdump-19", "riscv64-linux-gnu-objdump"):
        for xlen in (32, 64):
            again = xlen == 32 and "llvm" not in tool
            case(f"{tool}: every 16-bit encoding of RV{xlen}", tool, C, f"rv{xlen}", short, long=again)(judge)
            case(f"{tool}: longer encodings of RV{xlen}", tool, C, f"rv{xlen}", long, long=again)(judge)
            if "llvm" in tool:
                case(f"{tool}: 16-bit encodings of RV{xlen} that are standard", tool, RATIFIED, f"rv{xlen}", short)(judge_standard)
                case(f"{tool}: 32-bit encodings of RV{xlen} that are standard", tool, RATIFIED, f"rv{xlen}",
                     b"".join(struct.pack("<I", w) for w in groups(rng)))(judge_standard)
                case(f"{tool}: RV{xlen} with Zcmp and Zcmt", tool, ZCM, f"rv{xlen}_zcmp_zcmt", short)(judge)
    vendors = b"".join(of_vendors(rng)) + short
    for extension in extensions_of_vendors():
        case(f"llvm-objdump-22: {extension}", "llvm-objdump-22", extension, vendors, long=True)(judge_vendor)
    harness.main()


if __name__ == "__main__":
    main()
