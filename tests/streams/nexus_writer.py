"""Random RISC-V code, random executions of it, and an encoder of N-Trace 1.0 that shares nothing with the project. Bits of a message are a
list; a variable field ends at a multiple of six of them."""
import struct

BASE = 0x80001000
BTM, HTM = 3, 6
(OWNERSHIP, DIRECT, INDIRECT, ERROR, SYNC, DIRECT_SYNC, INDIRECT_SYNC, RESOURCE, HISTORY, HISTORY_SYNC, REPEAT, STOP) = (
    2, 3, 4, 8, 9, 11, 12, 27, 28, 29, 30, 33)
ICNT, HIST = 0, 1  # RCODE
PERIODIC, OVERRUN, ENABLED = 2, 7, 5  # SYNC
MACHINE = 3 << 2


def branch(offset):
    """beq a0, a1"""
    o = offset & 0x1fff
    return (o >> 12 & 1) << 31 | (o >> 5 & 0x3f) << 25 | 11 << 20 | 10 << 15 | (o >> 1 & 15) << 8 | (o >> 11 & 1) << 7 | 0x63


def jump(offset):
    """jal x0"""
    o = offset & 0x1fffff
    return (o >> 20 & 1) << 31 | (o >> 1 & 0x3ff) << 21 | (o >> 11 & 1) << 20 | (o >> 12 & 0xff) << 12 | 0x6f


class Instruction:
    def __init__(self, address, kind):
        self.address, self.kind, self.size, self.target = address, kind, 2 if kind == "short" else 4, None


class Code:
    """Straight code with branches, jumps and register jumps (jr a0) in it."""

    def __init__(self, random, count=200):
        self.list, address = [], BASE
        for kind in random.choices(["plain", "short", "branch", "jump", "register"], [30, 33, 20, 5, 6], k=count - 1) + ["register"]:
            self.list.append(Instruction(address, kind))
            address += self.list[-1].size
        for one in self.list:
            if one.kind in ("branch", "jump"):
                one.target = random.choice([x for x in self.list if x is not one]).address
        self.at = {one.address: i for i, one in enumerate(self.list)}

    def bytes(self):
        words = {"plain": lambda i: 0x00100293, "register": lambda i: 0x00050067, "branch": lambda i: branch(i.target - i.address),
                 "jump": lambda i: jump(i.target - i.address)}
        return b"".join(b"\x01\x00" if i.kind == "short" else struct.pack("<I", words[i.kind](i)) for i in self.list)


class Message:
    def __init__(self):
        self.bits, self.ends = [], []

    def fixed(self, value, width):
        self.bits += [value >> i & 1 for i in range(width)]
        return self

    def end(self, more=0):
        self.bits += [0] * (-len(self.bits) % 6 + 6 * more)
        self.ends.append(len(self.bits) // 6)
        return self

    def variable(self, value, more=0):
        return self.fixed(value, max(1, value.bit_length())).end(more)

    def bytes(self):
        groups = [sum(bit << k for k, bit in enumerate(self.bits[i:i + 6])) for i in range(0, len(self.bits), 6)]
        return bytes(group << 2 | (3 if i + 1 == self.ends[-1] else i + 1 in self.ends) for i, group in enumerate(groups))


class Encoder:
    """`sent`: bytes, time and number of instructions before each message. `executed`: the program counters of the trace."""

    def __init__(self, random, **options):
        self.random, self.mode, self.src, self.src_bits = random, HTM, 0, 0
        self.full = False       # U-ADDR is the full address
        self.rule = None        # of times: difference, xor, absolute
        self.fixed_time = 0     # bits of every TSTAMP
        self.time_bits = 64
        self.padded = 0.0       # how often a field has groups that it does not need
        self.history = 31       # branches in HIST at most
        self.count = 1 << 10    # halfwords in I-CNT at most
        self.contexts = False
        self.evcodes = (0, 4)   # of stops in the middle
        self.loses = False
        self.__dict__.update(options)
        self.now, self.then = random.randrange(1 << 16), None
        self.details = random.choice([(1,), (2, 3)])  # B-TYPE of traps
        self.sent, self.executed, self.losses, self.known = [], [], 0, 0
        self.reference = self.icnt = self.repeats = 0
        self.hist, self.last = 1, None

    def send(self, tcode, *fields, synchronizes=False):
        """A field is a value, or a value and its width."""
        if tcode != REPEAT:
            self.last = self.last if tcode == DIRECT else None
            self.send_repeats()
        message = Message().fixed(tcode, 6).fixed(self.src, self.src_bits)
        for field in fields:
            if isinstance(field, tuple):
                message.fixed(*field)
            else:
                message.variable(field, self.random.randrange(1, 3) if self.random.random() < self.padded else 0)
        if self.rule:
            self.add_time(message, synchronizes)
        self.sent.append((message.bytes(), self.now, len(self.executed), synchronizes))

    def add_time(self, message, absolute):
        value = self.now & ((1 << self.time_bits) - 1)
        if not absolute and self.rule == "difference":
            value = self.now - self.then
        if not absolute and self.rule == "xor":
            value = self.now ^ self.then
        self.then = self.now
        message.fixed(value, self.fixed_time).end() if self.fixed_time else message.variable(value)

    def send_repeats(self):
        count, self.repeats = self.repeats, 0
        if count:
            self.send(REPEAT, count)

    def own(self):
        if self.contexts:
            self.send(OWNERSHIP, 2 | MACHINE | self.random.randrange(1 << 16) << 5)

    def start(self, address, reason):
        self.icnt, self.hist, self.reference = 0, 1, address
        self.send(SYNC, (reason, 4), 0, address >> 1, synchronizes=True)
        self.own()

    def stop(self, evcode):
        self.send(STOP, (evcode, 4), (self.mode == HTM, 2), self.icnt, *([self.hist] if self.mode == HTM else []))
        self.known = len(self.executed)

    def lose(self):
        """What was executed since the last message with I-CNT is not known."""
        self.losses += len(self.executed) - self.known
        self.send(ERROR, (0, 4), 4)

    def address(self, target):
        value = target if self.full else target ^ self.reference
        self.reference = target
        return value >> 1

    def indirect(self, target, btype, reason=None):
        history = [self.hist] if self.mode == HTM else []
        if reason is not None:
            self.send(HISTORY_SYNC if history else INDIRECT_SYNC, (reason, 4), (btype, 2), self.icnt, target >> 1, *history,
                      synchronizes=True)
            self.reference = target
            self.own()
        else:
            self.send(HISTORY if history else INDIRECT, (btype, 2), self.icnt, self.address(target), *history)
        self.icnt, self.hist, self.known = 0, 1, len(self.executed)

    def retire(self, one, taken):
        self.executed.append(one.address)
        self.icnt += one.size // 2
        if one.kind == "branch":
            self.branch(one, taken)
        if self.icnt >= self.count:
            self.send(RESOURCE, (ICNT, 4), self.icnt)
            self.icnt = 0

    def branch(self, one, taken):
        if self.mode == HTM:
            self.hist = self.hist << 1 | taken
            if self.hist.bit_length() > self.history:
                self.send(RESOURCE, (HIST, 4), self.hist)
                self.hist = 1
            return
        if not taken:
            return
        again = (one.address, self.icnt)
        if self.random.random() < 0.05:
            self.send(DIRECT_SYNC, (PERIODIC, 4), self.icnt, one.target >> 1, synchronizes=True)
            self.reference = one.target
            self.own()
        elif self.last == again and not self.rule:
            self.repeats += 1
        else:
            self.send(DIRECT, self.icnt)
            self.last = again
        self.icnt, self.known = 0, len(self.executed)

    def run(self, code, count):
        """A random execution: branches go anywhere, also back; traps, and parts that are not traced."""
        at = 0
        self.start(BASE, self.random.choice([1, ENABLED]))
        for _ in range(count):
            one, chance = code.list[at], self.random.random()
            self.now += self.random.randrange(1, 20)
            if chance < 0.004:  # the instruction does not retire
                target = self.random.choice(code.list).address
                self.indirect(target, self.random.choice(self.details))
                at = code.at[target]
            elif chance < 0.007:
                lost = self.loses and self.random.random() < 0.5
                self.lose() if lost else self.stop(self.random.choice(self.evcodes))
                at = self.random.randrange(len(code.list))
                self.now += self.random.randrange(500)
                self.start(code.list[at].address, OVERRUN if lost else ENABLED)
            else:
                at = self.step(code, at, one)
        self.stop(0)

    def step(self, code, at, one):
        taken = one.kind == "branch" and self.random.random() < 0.6
        self.retire(one, int(taken))
        if one.kind != "register":
            return code.at[one.target] if taken or one.kind == "jump" else at + 1
        target = self.random.choice(code.list).address
        self.indirect(target, 0, PERIODIC if self.random.random() < 0.2 else None)
        return code.at[target]


def mixed(random, encoders):
    """The stream of several sources, with idle bytes between messages, and for each message its offset, source and what was sent."""
    waiting, stream, table = [(encoder, list(encoder.sent)) for encoder in encoders], b"", []
    while waiting:
        encoder, messages = random.choice(waiting)
        table.append((len(stream), encoder, messages[0]))
        stream += messages.pop(0)[0] + b"\xff" * (random.randrange(1, 9) if random.random() < 0.1 else 0)
        waiting = [one for one in waiting if one[1]]
    return stream, table
