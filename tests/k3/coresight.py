"""CoreSight frames, TMC memory and messages with another SRC, made from their definitions; shares nothing with ntrace.

A frame has 16 bytes. Even byte 0 to 14: bit 0 set: a trace ID in bits 7:1, for the next data byte, or after one more data byte
of the old ID if the byte's flag in byte 15 is set; bit 0 clear: data, whose own bit 0 is the flag.
"""
import random
import struct

BARRIER = b"\xff\xff\xff\x7f" * 4
PAGE = 4096


class Frames:
    """Data bytes with trace IDs become frames. `repeat`: an ID is repeated after so many frames, as a funnel does."""

    def __init__(self, repeat=8):
        self.out, self.slots, self.id, self.repeat, self.age = bytearray(), [], None, repeat, 0

    def close(self):
        """The slots are ("id", id, late) and ("data", byte)."""
        frame, flags = bytearray(16), 0
        for place, slot in enumerate(self.slots):
            if slot[0] == "id":
                frame[place] = slot[1] << 1 | 1
                flags |= slot[2] << place // 2
            elif place % 2:
                frame[place] = slot[1]
            else:
                frame[place] = slot[1] & 0xfe
                flags |= (slot[1] & 1) << place // 2
        frame[15] = flags
        self.out += frame
        self.slots = []
        self.age += 1

    def put(self, identity, byte):
        if self.age >= self.repeat and not self.slots:
            self.id = None
        if identity != self.id:
            self.age = 0
            if len(self.slots) % 2 == 0:
                self.slots.append(("id", identity, 0))
                if len(self.slots) == 15:   # the ID is the last of the frame: its data are in the next one
                    self.close()
            else:                           # the data byte before gets the odd place, after the ID
                last = self.slots.pop()
                if last[0] == "id":         # no data of it: the new ID takes its place
                    self.slots.append(("id", identity, 0))
                else:
                    self.slots += [("id", identity, 1), last]
            self.id = identity
        self.slots.append(("data", byte))
        if len(self.slots) == 15:
            self.close()

    def flush(self):
        """Padding with ID 0, as a stop by flush leaves it."""
        while self.slots:
            self.put(0, 0)
        self.id = None
        return bytes(self.out)


def frames(streams, seed=0, repeat=8, burst=40):
    """Frames of {id: bytes}, with bursts of random length: in the order in which the streams progress."""
    dice, writer, left = random.Random(seed), Frames(repeat), {key: 0 for key in streams}
    while any(left[key] < len(streams[key]) for key in streams):
        key = min((k for k in streams if left[k] < len(streams[k])), key=lambda k: left[k] / len(streams[k]))
        for byte in streams[key][left[key]:left[key] + dice.randint(1, burst)]:
            writer.put(key, byte)
            left[key] += 1
    return writer.flush()


def messages(data):
    """The messages of a stream, without idle bytes."""
    begin, out = None, []
    for at, byte in enumerate(data):
        if begin is None and byte == 0xff:
            continue
        begin = at if begin is None else begin
        if byte & 3 == 3:
            out.append(data[begin:at + 1])
            begin = None
    return out


def with_source(data, source, width, old_width=12, idle=0):
    """The stream with another SRC, of another width; an idle byte after each `idle` messages."""
    out = bytearray()
    for number, message in enumerate(messages(data)):
        ends = next(at for at, byte in enumerate(message) if byte & 3)  # of the first field of variable length
        bits = sum((byte >> 2) << 6 * at for at, byte in enumerate(message[:ends + 1]))
        size = 6 * (ends + 1) - old_width + width
        new = bits & 63 | source << 6 | bits >> 6 + old_width << 6 + width
        groups = max(-(-size // 6), 1 + -(-width // 6))
        part = bytearray((new >> 6 * at & 63) << 2 for at in range(groups))
        part[-1] |= message[ends] & 3
        out += part + message[ends + 1:]
        if idle and number % idle == 0:
            out += b"\xff"
    return bytes(out)


def wrap(data, size, base):
    """The memory of a flat buffer into which `data` were written, and its registers."""
    memory, at = bytearray(size), 0
    for start in range(0, len(data), 16):
        memory[at:at + 16] = data[start:start + 16]
        at = (at + 16) % size
    full = len(data) >= size
    rwp = base + (at if full else len(data))
    return bytes(memory), {"dba": base, "rsz": size // 4, "sts": 0xd if full else 0xc, "rrp": rwp if full else base, "rwp": rwp,
                           "axictl": 0xf3e}


def scatter(memory, registers, region, seed=0):
    """The same buffer in pages in any order, with its table, as the memory from `region` on."""
    entries = PAGE // 4  # of a page of the table
    count = -(-len(memory) // PAGE)
    tables = max(1, -(-(count - 1) // (entries - 1)))
    places = list(range(tables + count))
    random.Random(seed).shuffle(places)
    tables_at, pages_at = places[:tables], places[tables:]
    out = bytearray((tables + count) * PAGE)
    written, table, entry = 0, 0, 0
    for number, place in enumerate(pages_at):
        if entry == entries - 1 and number != count - 1:
            link = (region // PAGE + tables_at[table + 1]) << 4 | 3
            struct.pack_into("<I", out, tables_at[table] * PAGE + 4 * entry, link)
            table, entry = table + 1, 0
        kind = 1 if number == count - 1 else 2
        struct.pack_into("<I", out, tables_at[table] * PAGE + 4 * entry, (region // PAGE + place) << 4 | kind)
        out[place * PAGE:place * PAGE + PAGE] = memory[written:written + PAGE].ljust(PAGE, b"\0")
        written, entry = written + PAGE, entry + 1

    def address(offset):
        return region + pages_at[min(offset // PAGE, count - 1)] * PAGE + offset % PAGE

    offset = registers["rwp"] - registers["dba"]
    return bytes(out), dict(registers, dba=region + tables_at[0] * PAGE, rwp=address(offset), rrp=address(offset), axictl=0xfbe,
                            region=region)
