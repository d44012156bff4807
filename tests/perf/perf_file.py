"""perf.data files made from their layout: a writer of records, and of the AUX data of each producer.

This script shares nothing with the reader under test. Numbers are little-endian. The layout is that of the kernel's
documentation of perf.data and of its header perf_event.
"""
import struct

SAMPLE = 1 << 1 | 1 << 2 | 1 << 7 | 1 << 16  # TID, TIME, CPU, IDENTIFIER
ALL_IDS = 1 << 18
USER, KERNEL = 2, 1
EXEC = OUT = 1 << 13
BUILD_ID = 1 << 14
TRUNCATED, OVERWRITE = 1, 2
NOBODY = 0xffffffff
RVTRACE, XUANTIE = "rvtrace", "xuantie_ntrace"


def text(string):
    bytes_ = string.encode() + b"\0"
    return bytes_ + bytes(-len(bytes_) % 8)


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


class File:
    """One recording. Records are added in any order of time; `time` is in ns."""

    def __init__(self, pmu=RVTRACE, pmu_type=42, attr_size=128):
        self.pmu, self.pmu_type, self.attr_size = pmu, pmu_type, attr_size
        self.records, self.features, self.offsets = [], {}, {}
        self.serial = 0

    # ---- records

    def add(self, kind, misc, body, pid=0, tid=None, time=0, cpu=0):
        """A record of the kernel, with its id block: TID, TIME, CPU, IDENTIFIER."""
        block = struct.pack("<IIQIIQ", pid, pid if tid is None else tid, time, cpu, 0, 7)
        self.records.append(record(kind, misc, body + block))

    def user(self, kind, body, behind=b""):
        self.records.append(record(kind, 0, body) + behind)

    def comm(self, pid, name, time, cpu=0, is_exec=False):
        self.add(3, USER | (EXEC if is_exec else 0), struct.pack("<II", pid, pid) + text(name), pid, time=time, cpu=cpu)

    def fork(self, pid, parent, time, cpu=0, tid=None):
        body = struct.pack("<IIIIQ", pid, parent, tid or pid, parent, time)
        self.add(7, USER, body, parent, time=time, cpu=cpu)

    def exit(self, pid, time, cpu=0):
        self.add(4, USER, struct.pack("<IIIIQ", pid, 1, pid, 1, time), pid, time=time, cpu=cpu)

    def mmap2(self, pid, address, length, offset, path, time, cpu=0, build_id=None, protection=5):
        identity = struct.pack("<IIQQ", 8, 1, 99, 1)
        if build_id:
            identity = struct.pack("<BBH", len(build_id), 0, 0) + build_id.ljust(20, b"\0")
        body = struct.pack("<IIQQQ", pid, pid, address, length, offset) + identity
        body += struct.pack("<II", protection, 2) + text(path)
        self.add(10, USER | (BUILD_ID if build_id else 0), body, pid, time=time, cpu=cpu)

    def kernel(self, start, length, text_address, time=0):
        body = struct.pack("<IIQQQ", NOBODY, 0, start, length, text_address) + text("[kernel.kallsyms]_text")
        self.add(1, KERNEL, body, NOBODY, 0, time)

    def switch(self, cpu, out_pid, in_pid, time):
        """Two records, as the kernel writes them on one CPU."""
        self.add(15, USER | OUT, struct.pack("<II", in_pid, in_pid), out_pid, time=time, cpu=cpu)
        self.add(15, USER, struct.pack("<II", out_pid, out_pid), in_pid, time=time, cpu=cpu)

    def start(self, pid, time, cpu=0):
        self.add(12, 0, struct.pack("<II", pid, pid), pid, time=time, cpu=cpu)

    def poke(self, address, before, after, time, cpu=0):
        body = struct.pack("<QHH", address, len(before), len(after)) + before + after
        self.add(20, KERNEL, body + bytes(-len(body) % 8), 0, time=time, cpu=cpu)

    def symbol(self, address, length, name, time, removed=False):
        self.add(17, KERNEL, struct.pack("<QIHH", address, length, 1, removed) + text(name), 0, time=time)

    def time_conversion(self, shift, mult, zero):
        self.user(79, struct.pack("<QQQ", shift, mult, zero))

    def info(self, kind=8, private=None):
        private = [self.pmu_type] if private is None else private
        self.user(70, struct.pack("<II", kind, 0) + b"".join(struct.pack("<Q", p) for p in private))

    # ---- AUX data

    def aux(self, data, time, pid, cpu=0, tid=NOBODY, index=0, flags=0, skip=0, record_of=True, padding=True):
        """`data` is appended to the buffer `index`: an AUX record and an AUXTRACE block."""
        offset = self.offsets.get(index, 0) + skip
        self.offsets[index] = offset + len(data)
        described = offset + len(data) if flags & OVERWRITE else offset
        if record_of:
            self.add(11, 0, struct.pack("<QQQ", described, len(data), flags), pid, time=time, cpu=cpu)
        size = len(data) + (-len(data) % 8 if padding else 0)
        self.user(71, struct.pack("<QQQIIII", size, offset, 0, index, tid, NOBODY if tid != NOBODY else cpu, 0),
                  data + bytes(size - len(data)))

    # ---- the file

    def attr(self):
        flags = ALL_IDS | 1 << 8 | 1 << 9 | 1 << 13 | 1 << 23 | 1 << 26
        body = struct.pack("<IIQQQQQ", self.pmu_type, self.attr_size, 0, 0, SAMPLE, 0, flags)
        return body.ljust(self.attr_size, b"\0")

    def pmus(self):
        name = self.pmu.encode() + b"\0"
        return struct.pack("<III", 1, self.pmu_type, len(name)) + name

    def build_id(self, name, build_id, kernel=False):
        body = struct.pack("<I", NOBODY) + build_id.ljust(20, b"\0") + struct.pack("<BBH", len(build_id), 0, 0)
        body += name.encode().ljust(-(-(len(name) + 1) // 64) * 64, b"\0")
        self.features[2] = self.features.get(2, b"") + record(0, 1 << 15 | (KERNEL if kernel else USER), body)

    def bpf(self, *programs):
        """What perf saves of BPF programs: each a list of (address, code), with a tag."""
        feature = struct.pack("<I", len(programs))
        for tag, functions in programs:
            code = b"".join(part for _, part in functions)
            addresses, lengths = (b"".join(struct.pack(form, value) for value in values)
                                  for form, values in (("<Q", (at for at, _ in functions)), ("<I", (len(part) for _, part in functions))))
            data = code.ljust(-(-len(code) // 8) * 8, b"\0") + addresses + lengths.ljust(-(-len(lengths) // 8) * 8, b"\0")
            after_code = -(-len(code) // 8) * 8
            info = struct.pack("<II8sIIQQQIIQ16sIIQQIIQQ", 5, 7, tag, len(code), 0, 0, 0, 0, 0, 0, 0, b"name", 0, 0, 0, 0, len(functions), len(functions),
                               after_code, after_code + len(addresses)).ljust(224, b"\0")
            feature += struct.pack("<IIQ", len(info), len(data), 1 << 0 | 1 << 3 | 1 << 4) + info + data
        self.features[25] = feature

    def release(self, name):
        data = name.encode() + b"\0"
        self.features[4] = struct.pack("<I", len(data)) + data

    def bytes(self, data_size=None):
        """The form of a file: header, attribute with its id, data, features."""
        features = dict(self.features)
        features.setdefault(16, self.pmus())
        ids = 104
        attrs = ids + 8
        data = attrs + self.attr_size + 16
        body = b"".join(self.records)
        bits = bytearray(32)
        for number in features:
            bits[number // 8] |= 1 << number % 8
        out = b"PERFILE2" + struct.pack("<QQQQQQQQ", 104, self.attr_size + 16, attrs, self.attr_size + 16, data,
                                        len(body) if data_size is None else data_size, 0, 0) + bytes(bits)
        out += struct.pack("<Q", 7) + self.attr() + struct.pack("<QQ", ids, 8) + body
        at = len(out) + 16 * len(features)
        contents = b""
        for number in sorted(features):
            out += struct.pack("<QQ", at + len(contents), len(features[number]))
            contents += features[number]
        return out + contents

    def pipe(self):
        """The form of `perf record -o -`: only records."""
        out = b"PERFILE2" + struct.pack("<Q", 16)
        out += record(64, 0, self.attr() + struct.pack("<Q", 7))
        for number, content in {16: self.pmus(), **self.features}.items():
            out += record(80, 0, struct.pack("<Q", number) + content)
        return out + b"".join(self.records)


def block_header(mode=6, src_bits=0, timestamp_bits=0, wrapped=0):
    """XuanTie: what the driver writes before each session."""
    return struct.pack("<IIIIII", 24, mode, src_bits, timestamp_bits, wrapped, 0)


# A recording of each kernel that is known: name, PMU, type and words of AUXTRACE_INFO, beginning of each fragment.
KERNELS = [
    ("mainline", "rvtrace", 8, [42], b""),
    ("spacemit", "rvtrace", 8, [42 << 32 | 2, 0, 5, 1, 0, 0, 0, 0, 1, 5, 1, 0, 0, 0, 1], b""),
    ("sifive", "riscv_trace", 8, [42], b""),
    ("gtrace", "gtrace", 8, [42, 1], b""),
    ("xuantie", "xuantie_ntrace", 8, [42], block_header()),
]


def small_recording(kernel, data, program=0x10000):
    """One process with trace, on a system with a module."""
    _, pmu, kind, private, header = kernel
    recording = File(pmu=pmu)
    recording.info(kind, private)
    recording.release("6.18.3")
    recording.kernel(0xffffffff80000000, 0x200000, 0xffffffff80002000)
    body = struct.pack("<IIQQQIIQQII", NOBODY, 0, 0xffffffff01e6c000, 0x12000, 0, 8, 1, 99, 1, 5, 2) + text("[virtio_blk]")
    recording.add(10, KERNEL, body, NOBODY)
    recording.comm(100, "first", 10)
    recording.mmap2(100, program, 4096, 4096, "/first", 20)
    recording.start(100, 500)
    recording.aux(header + data, 1000, 100)
    return recording


def formatter_frames(payloads):
    """CoreSight frames of 16 bytes, each with bytes of one ID. `payloads` is a list of (id, bytes).

    Byte 0 is the ID: number << 1 | 1. Bytes 1 to 14 are data; bit 0 of a byte at an even place is in byte 15. The rest
    of a payload that does not fill a frame is followed by the null ID, and what is behind that is ignored.
    """
    out = b""
    for number, data in payloads:
        for at in range(0, len(data), 14):
            part = data[at:at + 14]
            frame = bytearray([number << 1 | 1]) + part
            if len(frame) < 15:
                if len(frame) % 2 == 0:
                    frame.append(1)  # the null ID, at an even place
                else:                # no ID can be here: idle bytes of the trace fill the frame
                    part = part.ljust(14, b"\xff")
                    frame = frame.ljust(15, b"\xff")
            frame = frame.ljust(15, b"\0")
            low = 0
            for place in range(2, 15, 2):
                if place <= len(part):    # data
                    low |= (frame[place] & 1) << place // 2
                    frame[place] &= 0xfe
            out += bytes(frame) + bytes([low])
    return out
