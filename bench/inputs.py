"""Inputs for measurements: a program, and executions of it with branch outcomes that have no pattern."""
import random
import struct
import sys

BASE = 0x10000
ADD = 0x00c50533
RET = 0x00008067
BLOCKS = 48


def branch(offset):
    """beq a0, a2"""
    o = offset & 0x1fff
    return 0x00c50063 | (o >> 12 & 1) << 31 | (o >> 5 & 0x3f) << 25 | (o >> 1 & 15) << 8 | (o >> 11 & 1) << 7


def call(offset):
    """jal ra"""
    o = offset & 0x1fffff
    return 0xef | (o >> 20 & 1) << 31 | (o >> 1 & 0x3ff) << 21 | (o >> 11 & 1) << 20 | (o >> 12 & 0xff) << 12


class Program:
    """A loop of blocks, each with a branch over one instruction; every sixth block calls a function that has a loop."""

    def __init__(self):
        self.code = {}
        self.at = BASE
        self.blocks = [self.block(number) for number in range(BLOCKS)]
        self.back = self.put(branch(BASE - self.at))
        self.put(ADD)
        function = self.at
        self.put(ADD)
        self.inner = self.put(branch(-4))
        self.ret = self.put(RET)
        for _, _, at in self.blocks:
            if at:
                self.code[at] = call(function - at)
        self.function = function

    def put(self, word):
        self.code[self.at] = word
        self.at += 4
        return self.at - 4

    def block(self, number):
        start = self.at
        for _ in range(number * 7 % 5 + 1):
            self.put(ADD)
        over = self.put(branch(8))
        self.put(ADD)
        return start, over, self.put(0) if number % 6 == 5 else None

    def elf(self):
        text = b"".join(struct.pack("<I", self.code[at]) for at in sorted(self.code))
        header = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 2, 243, 1, BASE, 64, 0, 0, 64, 56, 1, 64, 0, 0)
        return header + struct.pack("<IIQQQQQQ", 1, 5, 120, BASE, BASE, len(text), len(text), 8) + text

    def called(self, chance):
        turns = chance.randrange(1, 6)
        yield self.function
        for turn in range(turns):
            yield self.inner
            if turn < turns - 1:
                yield self.function
        yield self.ret

    def execution(self, count, seed=1):
        """At least `count` program counters, complete iterations of the loop."""
        chance, pcs = random.Random(seed), []
        while len(pcs) < count:
            for start, over, at in self.blocks:
                pcs.extend(range(start, over + 4, 4))
                if chance.random() < 0.6:
                    pcs.append(over + 4)
                if at:
                    pcs.append(at)
                    pcs.extend(self.called(chance))
            pcs.append(self.back)
        return pcs


def write(folder, count):
    """program.elf and pcs.txt; returns the number of program counters."""
    program = Program()
    pcs = program.execution(count)
    with open(f"{folder}/program.elf", "wb") as file:
        file.write(program.elf())
    with open(f"{folder}/pcs.txt", "w", encoding="ascii") as file:
        file.writelines(f"0x{pc:x}\n" for pc in pcs)
    return len(pcs)


if __name__ == "__main__":
    write(sys.argv[1], int(sys.argv[2]))
