"""Random small captures: a program in RV64 machine code, an execution of it, and its trace, encoded by `ntrace encode`.

A program has functions with straight code, branches, loops, calls (also recursive and through registers), tail calls and
returns. The execution follows the code with random outcomes, so that the list of program counters is one that a hart could
have retired. A capture is a bundle: capture.json, the ELF file, the stream.
"""
import json
import os
import random
import struct
import subprocess
import zlib

LINK, RETURN, INDIRECT_CALL, INDIRECT_JUMP = 1, 0x00008067, 0x000280e7, 0x00028067  # jalr by t0


def jal(register, offset):
    return ((offset >> 20 & 1) << 31 | (offset >> 1 & 0x3ff) << 21 | (offset >> 11 & 1) << 20 | (offset >> 12 & 0xff) << 12
            | register << 7 | 0x6f)


def branch(offset):
    return (offset >> 12 & 1) << 31 | (offset >> 5 & 0x3f) << 25 | (offset >> 1 & 15) << 8 | (offset >> 11 & 1) << 7 | 0x63


class Program:
    """Functions as lists of (kind, operand); every instruction has 4 bytes."""

    def __init__(self, seed, base):
        chance = random.Random(seed)
        self.base, self.code, self.entry, self.sizes = base, [], [], []
        count = chance.randint(2, 9)
        for number in range(count):
            self.entry.append(base + 4 * len(self.code))
            length = chance.randint(3, 14)
            for at in range(length - 1):
                kind = chance.choices(["plain", "branch", "call", "icall", "jump"], [6, 4, 3, 1, 1])[0]
                if kind == "branch":
                    operand = chance.randrange(length)
                    self.code.append((kind, 4 * (operand - at) if operand != at else 4))
                elif kind in ("call", "icall"):
                    self.code.append((kind, chance.randrange(count)))
                elif kind == "jump":
                    self.code.append((kind, 4 * (chance.randint(at + 1, length - 1) - at)))
                else:
                    self.code.append((kind, 0))
            last = chance.random()
            tail = chance.randrange(count)
            self.code.append(("tail", tail) if last < 0.15 and number else ("itail", tail) if last < 0.25 and number else ("ret", 0))
            self.sizes.append(4 * length)

    def words(self):
        for at, (kind, operand) in enumerate(self.code):
            here = self.base + 4 * at
            yield {"plain": 0x13, "ret": RETURN, "icall": INDIRECT_CALL, "itail": INDIRECT_JUMP}.get(kind) or (
                branch(operand) if kind == "branch" else jal(0, operand) if kind == "jump" else
                jal(LINK if kind == "call" else 0, self.entry[operand] - here))

    def run(self, chance, length):
        """Program counters of a random execution, which begins again in the first function when that returns."""
        pcs, pc, stack = [], self.entry[0], []
        while len(pcs) < length:
            pcs.append(pc)
            kind, operand = self.code[(pc - self.base) // 4]
            after = pc + 4
            if kind == "branch":
                after = pc + operand if chance.random() < 0.5 else after
            elif kind in ("call", "icall"):
                if len(stack) < 40:
                    stack.append(after)
                    after = self.entry[operand]
                else:
                    break
            elif kind == "jump":
                after = pc + operand
            elif kind in ("tail", "itail"):
                after = self.entry[operand]
            elif kind == "ret":
                if not stack:
                    break
                after = stack.pop()
            pc = after
        return pcs


def elf(program, build_id):
    """An ELF64 executable with the functions as symbols."""
    code = b"".join(struct.pack("<I", word) for word in program.words())
    names, table = b"\0", bytes(24)
    for number, (address, size) in enumerate(zip(program.entry, program.sizes)):
        table += struct.pack("<IBBHQQ", len(names), 0x12, 0, 1, address, size)
        names += f"function{number}".encode() + b"\0"
    note = struct.pack("<III4s", 4, len(build_id), 3, b"GNU\0") + build_id
    sections = b"\0.text\0.symtab\0.strtab\0.note\0.shstrtab\0"
    at = 64 + 56
    parts, places = b"", []
    for content in (code, table, names, note, sections):
        places.append((at + len(parts), len(content)))
        parts += content + bytes(-len(content) % 8)
    header = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, 243, 1, program.base, 64, at + len(parts), 0, 64, 56, 1,
                                                       64, 6, 5)
    segment = struct.pack("<IIQQQQQQ", 1, 5, places[0][0], program.base, program.base, len(code), len(code), 8)

    def section(name, kind, flags, address, place, link=0, info=0, entry=0):
        return struct.pack("<IIQQQQIIQQ", name, kind, flags, address, place[0], place[1], link, info, 4, entry)

    headers = (bytes(64) + section(1, 1, 6, program.base, places[0]) + section(7, 2, 0, 0, places[1], 3, 1, 24)
               + section(15, 3, 0, 0, places[2]) + section(23, 7, 0, 0, places[3]) + section(29, 3, 0, 0, places[4]))
    return header + segment + parts + headers


ENCODERS = [["--mode", "btm"], ["--mode", "htm"], ["--implicit-return", "full"], ["--repeated-history"], ["--timestamps"],
            ["--timestamps", "--mode", "btm"], ["--mode", "btm", "--repeat-branch"]]


class Capture:
    """A bundle in `folder`. `bias`: where the program is loaded; `damage`: number of bits of the stream that are changed."""

    def __init__(self, ntrace, folder, seed, program=None, bias=0, length=3000, sync=1, options=None, damage=0):
        chance = random.Random(seed)
        self.path = os.path.join(folder, f"c{seed}.ntrace")
        self.program = program or Program(seed, 0x10000)
        os.makedirs(os.path.join(self.path, "images"), exist_ok=True)
        image = os.path.join(self.path, "images", "program")
        with open(image, "wb") as file:
            file.write(elf(self.program, build_id=struct.pack("<Q", zlib.crc32(repr(self.program.code).encode()))))
        pcs = []
        while len(pcs) < length:
            pcs += self.program.run(chance, length - len(pcs))
        options = chance.choice(ENCODERS) if options is None else options
        stream = b""
        listed = "".join(f"{pc + bias:#x}\n" for pc in pcs)
        encode = [ntrace, "encode", "-e", f"{image}@{bias + self.program.base:#x}" if bias else image, "--pc", "-", "--sync-mode", "messages",
                  "--sync-max", str(sync), *options]
        done = subprocess.run(encode, input=listed.encode(), capture_output=True, check=False)
        if done.returncode:
            raise AssertionError(f"encode: {done.stderr.decode()[-500:]}")
        stream = bytearray(done.stdout)
        for _ in range(damage):
            stream[chance.randrange(len(stream))] ^= 1 << chance.randrange(8)
        with open(os.path.join(self.path, "trace.nex"), "wb") as file:
            file.write(stream)
        self.size = len(stream)
        params = {}
        if "--timestamps" in options:
            params["timestamps"] = "on"
        if "--implicit-return" in options:
            params["implicit_return"] = "full"
        self.options, self.seed = options, seed
        with open(os.path.join(self.path, "capture.json"), "w", encoding="utf-8") as file:
            json.dump({"format": "ntrace-bundle", "version": 1, "stream": "trace.nex", "params": params, "date": f"{seed}",
                       "images": [{"kind": "elf", "file": "images/program", "name": "program", "bias": f"{bias:#x}"}]}, file)
