"""The encoder of CEDARtools on top of nexus_writer.py: Config before each start, BranchPredict, JumpTargetCache, data trace."""
from nexus_writer import DIRECT, ERROR, HISTORY, HTM, ICNT, RESOURCE, Encoder

DEVICE_ID, DATA_WRITE, DATA_READ, ACQUISITION, DATA_WRITE_SYNC, DATA_READ_SYNC, WATCHPOINT = 1, 5, 6, 7, 13, 14, 15
PREDICT, CACHED, CONFIG = 56, 57, 58
ENABLED_CACHE, ENABLED_PREDICTOR, WIDE, DATA_XOR = 1 << 4, 1 << 5, 1 << 23, 1 << 21
CAPS = 0x7fffff & ~(1 << 6)  # all but 64-bit addresses and sequential jumps
DEPTH, TIME_BITS, ONLY_DATA = 16, 40, 2


class CedarEncoder(Encoder):
    def __init__(self, random, **options):
        super().__init__(random, **{"predictor": 0, "cache": 0, "wide": True, "version": 1, "history": 30, "details": (2, 3), **options})
        self.details = (2, 3)
        self.counters, self.targets, self.predicted, self.accesses, self.data = {}, {}, 0, [], None

    def config(self):
        enabled = DATA_XOR | (ENABLED_CACHE if self.cache else 0) | (ENABLED_PREDICTOR if self.predictor else 0)
        rule, self.rule = self.rule, None
        if self.random.random() < 0.5:
            self.send(DEVICE_ID, self.random.getrandbits(32))
        self.send(CONFIG, (self.version, 4), CAPS | (WIDE if self.wide else 0), enabled, self.src << 4 | self.src_bits,
                  (not self.src_bits) << 11 | self.mode, TIME_BITS << 6 | bool(rule), DEPTH << 8 | self.predictor << 4 | self.cache,
                  *[self.random.randrange(1 << 9) for _ in range(2 if self.version > 1 else 0)])
        self.rule = rule

    def start(self, address, reason):
        self.counters, self.targets, self.predicted = {}, {}, 0
        self.config()
        super().start(address, reason)

    def index(self, address):
        """The XOR of slices of the address, from bit 2 on; the last one is short."""
        found, at, top = 0, 2, 64 if self.wide else 26
        while at < top:
            found ^= address >> at & ((1 << min(self.cache, top - at)) - 1)
            at += self.cache
        return found

    def indirect(self, target, btype, reason=None):
        self.predicted = 0
        usual = self.mode != HTM or reason is not None or btype != 0 or not self.cache
        if usual:
            super().indirect(target, btype, reason)
        elif self.targets.get(self.index(target)) == target:
            self.send(CACHED, (btype, 2), self.icnt, self.index(target), self.hist)
            self.icnt, self.hist, self.reference, self.known = 0, 1, target, len(self.executed)
        else:
            super().indirect(target, btype)
            self.targets[self.index(target)] = target

    def branch(self, one, taken):
        if not self.predictor:
            super().branch(one, taken)
            return
        place = one.address >> 2 & ((1 << self.predictor) - 1)
        counter = self.counters.get(place, 1)
        self.counters[place] = min(3, counter + 1) if taken else max(0, counter - 1)
        if (counter >= 2) == bool(taken):
            self.predicted += 1
            return
        self.send(PREDICT, self.predicted)
        self.predicted = 0

    def retire(self, one, taken):
        self.access()
        super().retire(one, taken)

    def access(self):
        """Data messages, and what else does not change the flow."""
        r, chance = self.random, self.random.random()
        if chance < 0.05:
            self.transfer()
        elif chance < 0.055:
            self.send(ERROR, (0, 4), ONLY_DATA)
            self.data = None
        elif chance < 0.06:
            self.send(WATCHPOINT, 1 << r.randrange(16))
        elif chance < 0.065:
            self.send(ACQUISITION, (r.randrange(1 << 12), 12), r.getrandbits(r.choice([1, 64, 128, 192])))

    def transfer(self):
        r = self.random
        size, load, whole = r.choice([1, 2, 4, 8]), r.randrange(2), self.data is None or r.random() < 0.1
        address, value = r.getrandbits(64 if self.wide else 32), r.choice([0, r.getrandbits(8 * size)])
        if self.data is not None and r.random() < 0.5:
            address = self.data ^ r.randrange(1 << 12)
        element = r.choice([0, size.bit_length()])  # 0: that of the size
        tcode = (DATA_READ_SYNC if load else DATA_WRITE_SYNC) if whole else DATA_READ if load else DATA_WRITE
        self.send(tcode, (size, 4), (element, 3), address if whole else address ^ self.data, value, synchronizes=whole)
        self.accesses.append(("read" if load else "write", size, address, value))
        self.data = address


def with_earlier_session(random, encoder):
    """Messages that are left of an earlier session, before the first Config."""
    rest = CedarEncoder(random, src=encoder.src, src_bits=encoder.src_bits, mode=encoder.mode)
    for _ in range(random.randrange(3)):
        if random.random() < 0.5:
            rest.send(RESOURCE, (ICNT, 4), 77)
        elif encoder.mode == HTM:
            rest.send(HISTORY, (0, 2), 9, 44, 5)
        else:
            rest.send(DIRECT, 9)
    return b"".join(sent[0] for sent in rest.sent)
