#!/usr/bin/env python3
"""Loads, stores, branches and harmless instructions in the capture plugin, compared with disassemblers.

usage: accesses.py ACCESSES

A block with one sure access has no counter, so none may be missing and none too much: every 16-bit encoding, and all
that opcodes and functions of 32-bit ones can be, for RV32 and RV64. TAP on standard output."""
import os
import random
import re
import struct
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import case, main, need
from insn import compare, disassembly, flat, halves, run

EXTENSIONS = "+m,+a,+f,+d,+c,+v,+zfh,+zba,+zbb,+zbs"
INTEGER = re.compile(r"(l[bhwd]u?|s[bhwd]|c\.[ls][wd](sp)?)$")
LOAD = re.compile(r"(l[bhwd]u?|fl[hwdq]|c\.f?l[wd](sp)?)$")
STORE = re.compile(r"(s[bhwd]|fs[hwdq]|c\.f?s[wd](sp)?)$")
# What can trap although it was decoded: memory, the environment, privileged registers.
TRAPS = re.compile(r"(c\.)?(f?[ls][bhwdq]u?(sp)?|ebreak|ecall|amo.*|lr\..*|sc\..*|csr.*|[msud]ret|wfi|sfence.*|cbo\..*|cm\..*|"
                   r"hlv.*|hsv.*|hfence.*|[su]?inval.*|v.*|mop.*|prefetch.*)$")


NAMES = "zero ra sp gp tp t0 t1 t2 s0 s1 a0 a1 a2 a3 a4 a5 a6 a7 s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 t3 t4 t5 t6".split()
REGISTERS = {**{name: n for n, name in enumerate(NAMES)}, **{f"x{n}": n for n in range(32)}, "fp": 8}
# The first operand of these is not a register that they write.
READS = re.compile(r"(c\.)?(f?s[bhwdq](sp)?|b(eqz?|nez?|ltz?|gez?|ltu|geu|lez|gtz|gt|le|gtu|leu)|jr?|jalr?|csr[wsc]i?|f[ls].*|sfence.*|cbo.*|"
                   r"h[sl].*|[sh]?inval.*|v.*|prefetch.*|cm\..*)$")


def words(rng):
    """Each opcode and funct3, many times."""
    for opcode in range(3, 128, 4):
        for function in range(8) if opcode & 0x1f != 0x1f else ():
            for _ in range(60):
                yield struct.pack("<I", rng.getrandbits(17) << 15 | function << 12 | rng.getrandbits(5) << 7 | opcode)


def known(mnemonic, operands):
    """Disassemblers print reserved encodings as bytes, and some reserved hints by name."""
    return not mnemonic.startswith((".", "unimp", "c.unimp", "<unknown>")) and "unknown" not in operands


def address_of(mnemonic, operands, flags):
    """A sure access as the plugin prints it, or None."""
    match = re.search(r"(-?(?:0x)?[0-9a-f]+)?\((\w+)\)", operands)
    if flags[3] != "a" or not match:
        return None
    size = {"b": 1, "h": 2, "w": 4, "d": 8}[mnemonic.replace("c.", "").replace("sp", "").rstrip("u")[-1]]
    return f"{'l' if flags[1] == 'l' else 's'}{size}:{int(match[1] or '0', 0)}(x{REGISTERS[match[2]]})"


def wrong(said, pc, _size, _encoding, mnemonic, operands):
    """Returns what is wrong in the plugin's line, or None."""
    flags, written, *offset = said.split()
    place = offset.pop(0) if offset and ":" in offset[0] else None
    if not known(mnemonic, operands):
        return "sure access of an unknown instruction" if flags[3] == "a" else None
    if (flags[3] == "a") != bool(INTEGER.match(mnemonic)):
        return "sure access"
    if (flags[1] == "l") != bool(LOAD.match(mnemonic)):
        return "load"
    if (flags[2] == "s") != bool(STORE.match(mnemonic)):
        return "store"
    first = operands.split(",")[0].strip()
    if first in REGISTERS and REGISTERS[first] and not READS.match(mnemonic) and not int(written[1:], 16) >> REGISTERS[first] & 1:
        return "written register"
    if place != address_of(mnemonic, operands, flags):
        return "address"
    if flags[0] == "h" and TRAPS.match(mnemonic):
        return "harmless"
    branch = re.match(r"(c\.)?b(eqz?|nez?|lt|ge|ltu|geu)$", mnemonic)
    target = int(re.sub(r"\s*[<#].*", "", operands).split(",")[-1], 16) if branch else None
    return None if bool(branch) == bool(offset) and (not branch or (pc + int(offset[0]) - target) % 2**32 == 0) else "branch"


def judge(tool, xlen, code):
    ours = run(sys.argv[1], flat(code), f"rv{xlen}").splitlines()
    compare(ours, disassembly(need(tool), EXTENSIONS, code, xlen), code, wrong)


CODE = b"".join(halves()) + b"".join(words(random.Random(1)))
for each_tool in "llvm-objdump-19", "riscv64-linux-gnu-objdump":
    for each_xlen in 32, 64:
        case(f"{each_tool}: RV{each_xlen}", each_tool, each_xlen, CODE)(judge)
main()
