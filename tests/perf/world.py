"""Programs, processes and CPUs of which the truth is known: which instruction ran when, of which process.

A program is a loop of 4-byte instructions that ends in ECALL. A CPU runs loops of processes; each ECALL leads to a loop of
the kernel, which returns to any process. The trace of a CPU is made by `ntrace encode --ingress`.
"""
import os
import struct

PAGE = 4096
KERNEL = 0xffffffff80200000
NOP, ECALL, SRET = 0x00000013, 0x00000073, 0x10200073


def branch_back(distance):
    """beq zero, zero, -distance"""
    offset = -distance & 0x1fff
    return (offset >> 12 & 1) << 31 | (offset >> 5 & 63) << 25 | (offset >> 1 & 15) << 8 | (offset >> 11 & 1) << 7 | 0x63


class Program:
    """A file: `length` NOPs and a branch back, then ECALL (or SRET, in the kernel). `address` is that of its code in the
    file; the code is at file offset PAGE."""

    def __init__(self, name, length, address, last=ECALL, kind=2):
        self.name, self.length, self.address, self.kind = name, length, address, kind
        self.words = [NOP] * length + [branch_back(4 * length), last]
        self.build_id = bytes((len(name) * 7 + ord(name[0]) * 3 + length + i) & 255 for i in range(20))
        self.bias = 0

    def elf(self, code=None):
        code = code or b"".join(struct.pack("<I", word) for word in self.words)
        note = struct.pack("<III", 4, 20, 3) + b"GNU\0" + self.build_id
        names = b"\0" + self.name.encode() + b"\0_text\0"
        symbols = bytes(24) + struct.pack("<IBBHQQ", 1, 0x12, 0, 1, self.address, len(code))
        if self.kind == 2 and self.address == KERNEL:
            symbols += struct.pack("<IBBHQQ", 2 + len(self.name), 0x10, 0, 1, self.address, 0)
        sections = b"\0.text\0.note.gnu.build-id\0.symtab\0.strtab\0.shstrtab\0"
        parts = [code, note, symbols, names, sections]
        places, at = [], PAGE
        for part in parts:
            places.append(at)
            at += len(part) + -len(part) % 8

        def section(name, kind, flags, address, number, link=0, info=0, entry=0):  # aligned to 4 bytes, as notes are
            return struct.pack("<IIQQQQIIQQ", sections.index(b"\0" + name + b"\0") + 1, kind, flags, address,
                               places[number], len(parts[number]), link, info, 4, entry)
        headers = bytes(64) + section(b".text", 1, 6, self.address, 0) + section(b".note.gnu.build-id", 7, 2, 0, 1)
        headers += section(b".symtab", 2, 0, 0, 2, 4, 1, 24) + section(b".strtab", 3, 0, 0, 3)
        headers += section(b".shstrtab", 3, 0, 0, 4)
        out = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", self.kind, 243, 1, self.address, 64, at, 5, 64,
                                                        56, 1, 64, 6, 5)
        out += struct.pack("<IIQQQQQQ", 1, 5, PAGE, self.address, self.address, len(code), len(code), PAGE)
        out = out.ljust(PAGE, b"\0")
        for place, part in zip(places, parts):
            out = out.ljust(place, b"\0") + part
        return out.ljust(at, b"\0") + headers

    def write(self, folder):
        path = os.path.join(folder, self.name)
        with open(path, "wb") as file:
            file.write(self.elf())
        return path


class Cpu:
    """The ingress records of a CPU, and the truth: (address, symbol) of each instruction, with the process."""

    COLUMNS = "iaddr,iretire,ilastsize,itype,priv,ctype,scontext,time"

    def __init__(self, time=1000, ticks=lambda time: time, step=10):
        self.rows, self.truth = [], []
        self.time, self.ticks, self.step = time, ticks, step
        self.context, self.changed = 0, 0

    def row(self, address, retired, kind, privilege):
        self.time += self.step
        ctype, self.changed = self.changed, 0
        self.rows.append(f"{address:#x},{retired},1,{kind},{privilege},{ctype},{self.context},{self.ticks(self.time)}")

    def loop(self, pid, program, times, privilege, base=None):
        base = program.address + program.bias if base is None else base
        instructions = program.length + 1
        for turn in range(times):
            self.row(base, 2 * instructions, 5 if turn + 1 < times else 4, privilege)
            self.truth += [(pid, base + 4 * i, program.name) for i in range(instructions)]
        return base + 4 * instructions

    def user(self, pid, program, times, base=None, to=None):
        """A loop of a process; its ECALL enters the kernel, whose loop returns."""
        end = self.loop(pid, program, times, 0, base)
        self.row(end, 0, 1, 0)
        return self.kernel(pid, to, 1)

    def kernel(self, pid, kernel, times):
        end = self.loop(pid, kernel, times, 1)
        self.row(end, 2, 3, 1)
        self.truth.append((pid, end, kernel.name))

    def switch(self, scontext):
        """The next block reports another context."""
        self.context, self.changed = scontext, 1

    def take(self):
        """The records since the last call, as text."""
        rows, self.rows = self.rows, []
        return self.COLUMNS + "\n" + "\n".join(rows) + "\n"
