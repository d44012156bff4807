"""A small known program, as memory image and as ELF file: specification section 15.4, program A, and
a loop.

  0x100 c.add           0x10e c.add           0x200 c.add           0x206 c.add
  0x102 beq 0x200       0x110 add             0x202 c.ebreak        0x208 beq 0x206
  0x106 add             0x114 c.ebreak        0x300 add             0x20c c.ebreak
  0x10a beq 0x300                             0x304 c.ebreak
"""
import struct

BASE = 0x100
START = "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80\n"
# Second run of the specification: first branch not taken, second one taken.
BTM = START + "DirectBranch ICNT=7\nProgTraceCorrelation EVCODE=0 CDF=0 ICNT=2\n"
TURNS = "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x103\nDirectBranch ICNT=3\nRepeatBranch BCNT=2\n"  # of the loop
HTM = START + "ProgTraceCorrelation EVCODE=0 CDF=1 ICNT=9 HIST=0x5\n"
PCS = [0x100, 0x102, 0x106, 0x10a, 0x300]


def branch(pc, target):
    """beq zero, zero, target"""
    offset = (target - pc) & 0x1fff
    return (offset >> 12 & 1) << 31 | (offset >> 5 & 0x3f) << 25 | (offset >> 1 & 15) << 8 | (offset >> 11 & 1) << 7 | 0x63


def image():
    """The bytes from BASE on."""
    data = bytearray(0x206)
    code = {0x100: (0x908a, 2), 0x102: (branch(0x102, 0x200), 4), 0x106: (0x003100b3, 4), 0x10a: (branch(0x10a, 0x300), 4),
            0x10e: (0x908a, 2), 0x110: (0x003100b3, 4), 0x114: (0x9002, 2), 0x200: (0x908a, 2), 0x202: (0x9002, 2),
            0x206: (0x908a, 2), 0x208: (branch(0x208, 0x206), 4), 0x20c: (0x9002, 2), 0x300: (0x003100b3, 4), 0x304: (0x9002, 2)}
    for pc, (opcode, size) in code.items():
        data[pc - BASE:pc - BASE + size] = opcode.to_bytes(size, "little")
    return bytes(data)


def elf(machine=243, base=BASE, symbols=(("start", 0x100, 0x16), ("left", 0x200, 4), ("right", 0x300, 6)), code=None):
    """An ELF64 executable of the image, or of other code at BASE, with these functions."""
    code = code or image()
    names, table = b"\0", bytes(24)
    for name, address, size in symbols:
        table += struct.pack("<IBBHQQ", len(names), 0x12, 0, 1, address - BASE + base, size)
        names += name.encode() + b"\0"
    sections = b"\0.text\0.symtab\0.strtab\0.shstrtab\0"
    at = 64 + 56
    parts, headers = b"", []
    for content in (code, table, names, sections):
        headers.append((at + len(parts), len(content)))
        parts += content + bytes(-len(content) % 8)
    header = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 2, machine, 1, base, 64, at + len(parts), 1, 64, 56,
                                                       1, 64, 5, 4)
    segment = struct.pack("<IIQQQQQQ", 1, 5, headers[0][0], base, base, len(code), len(code), 8)

    def section(name, kind, flags, address, place, link=0, info=0, entry=0):
        return struct.pack("<IIQQQQIIQQ", name, kind, flags, address, place[0], place[1], link, info, 1, entry)

    table_headers = (bytes(64) + section(1, 1, 6, base, headers[0]) + section(7, 2, 0, 0, headers[1], 3, 1, 24)
                     + section(15, 3, 0, 0, headers[2]) + section(23, 3, 0, 0, headers[3]))
    return header + segment + parts + table_headers
