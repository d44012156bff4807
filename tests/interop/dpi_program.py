"""Random RV64 programs and executions of them: straight code, branches, jumps, calls, returns, traps.

Only where control goes matters, so a walk chooses every outcome itself.
"""
import random
import struct

BASE = 0x80000000
BLOCKS = 60
NOP, C_NOP, ECALL, MRET = 0x13, 0x0001, 0x73, 0x30200073
RET, JUMP_REG, CALL_REG = 0x8067, 0x30067, 0x300E7  # jalr x0,(x1); x0,(x6); x1,(x6)


def beq(offset):
    return (0xB50063 | (offset >> 12 & 1) << 31 | (offset >> 5 & 0x3F) << 25 | (offset >> 1 & 0xF) << 8
            | (offset >> 11 & 1) << 7)


def jal(link, offset):
    return (0x6F | link << 7 | (offset >> 20 & 1) << 31 | (offset >> 1 & 0x3FF) << 21 | (offset >> 11 & 1) << 20
            | (offset >> 12 & 0xFF) << 12)


class Program:
    """Blocks of straight code, each with one of these ends; the last one is the trap handler.

    In a calm program, counters become full. In the other kind, all events are frequent."""
    ENDS = ["fall", "branch", "branch", "branch", "jump", "call", "return", "jump-reg", "call-reg", "ecall"]
    CALM_ENDS = ["fall", "jump", "call", "jump-reg"] + ["branch"] * 20

    def __init__(self, seed, calm):
        ends = self.CALM_ENDS if calm else self.ENDS
        self.traps = 0.001 if calm else 0.02
        rng = random.Random(seed)
        self.blocks, at = [], BASE
        for index in range(BLOCKS):
            straight = [rng.choice((2, 4)) for _ in range(rng.choice((0, 1, 2, 3, 6, 60)))]
            end = "mret" if index == BLOCKS - 1 else "jump" if index == BLOCKS - 2 else rng.choice(ends)
            addresses = []
            for size in straight + [0 if end == "fall" else 4]:
                addresses.append((at, size))
                at += size
            self.blocks.append({"at": addresses, "end": end, "target": rng.randrange(BLOCKS - 1), "next": at})

    def code(self):
        out = b""
        for block in self.blocks:
            for address, size in block["at"][:-1]:
                out += struct.pack("<H", C_NOP) if size == 2 else struct.pack("<I", NOP)
            address, size = block["at"][-1]
            offset = self.blocks[block["target"]]["at"][0][0] - address
            words = {"branch": beq(offset), "jump": jal(0, offset), "call": jal(1, offset), "return": RET,
                     "jump-reg": JUMP_REG, "call-reg": CALL_REG, "ecall": ECALL, "mret": MRET}
            if size:
                out += struct.pack("<I", words[block["end"]])
        return out

    def elf(self):
        code = self.code()
        header = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 2, 243, 1, BASE, 64, 0, 1, 64, 56, 1, 64, 0, 0)
        return header + struct.pack("<IIQQQQQQ", 1, 5, 64 + 56, BASE, BASE, len(code), len(code), 8) + code

    def walk(self, seed, length):
        """Program counters. An interrupt may come before any instruction; ECALL traps."""
        rng = random.Random(seed)
        out, calls, index, resume = [], [], 0, None
        handler = BLOCKS - 1
        while len(out) < length:
            block = self.blocks[index]
            interrupted = False
            for address, size in block["at"]:
                if resume is not None and address < resume:
                    continue
                if index != handler and rng.random() < self.traps:
                    interrupted, back = True, address
                    break
                if size:
                    out.append(address)
            resume = None
            end = block["end"]
            if interrupted:
                trapped, index = (index, back), handler
            elif end == "ecall":
                trapped, index = (index + 1, None), handler
            elif end == "mret":
                index, resume = trapped
            elif end == "fall":
                index += 1
            elif end == "branch":
                index = block["target"] if rng.random() < 0.5 else index + 1
            elif end in ("jump", "call"):
                calls += [index + 1] if end == "call" else []
                index = block["target"]
            elif end == "return" and calls and rng.random() < 0.9:
                index = calls.pop()
            else:
                calls += [index + 1] if end == "call-reg" else []
                index = rng.randrange(BLOCKS - 1)
        return out
