"""A writer of perf.data in the layout of SpacemiT's kernel."""
import os
import struct

from coresight import with_source
from perf_file import File
from samples import samples

KERNEL, PROGRAM_BYTES = 0xffffffff80200000, 0x61000
PROCESSES = {2120: "progA", 2121: "progB"}


def stored(name):
    with open(os.path.join(samples(), name), "rb") as file:
        return file.read()


class K3(File):
    """`harts`: {SRC: trace ID}. One buffer has the messages of all; the CPU that stops last copies it."""

    def __init__(self, harts, width=12, inhibit=0, form=1, cpus=16, others=None, entries=None, announced=True, numbers=None):
        """`others`: {CPU: (form, inhibit, width)} of AUXTRACE_INFO; `entries`: only so many; `announced`: AUX_OUTPUT_HW_ID;
        `numbers`: {CPU: SRCID};
        `cpus`: how many, or which."""
        super().__init__()
        self.harts, self.width, self.last = harts, width, max(harts)
        listed = list(cpus if isinstance(cpus, list) else range(cpus))
        words = [self.pmu_type << 32 | len(listed)]
        for cpu in listed[:entries]:
            own = (others or {}).get(cpu, (form, inhibit, width))
            words += [cpu, 5, own[0], 1, own[1], own[2], (numbers or {}).get(cpu, cpu)]
        self.info(8, words)
        self.kernel(KERNEL, 0x1000, KERNEL)
        for cpu, identity in harts.items():
            self.start(2120, 20, cpu)  # ITRACE_START
            if announced:
                self.add(21, 0, struct.pack("<Q", 1 << 56 | 0x1a3b77 << 8 | identity), 0, time=5, cpu=cpu)

    def process(self, pid, program, threads=(), time=10):
        self.comm(pid, program, time, is_exec=True)
        self.mmap2(pid, 0x10000, PROGRAM_BYTES, 0, f"/usr/bin/{program}", time + 1)
        for tid in threads:
            self.fork(pid, pid, time + 2, tid=tid)

    def streams(self):
        return {identity: with_source(stored(f"hart{old}.nex"), new, self.width)
                for old, (new, identity) in zip((5, 1), self.harts.items())}

    def trace(self, data, flags=0, skip=0, time=100):
        self.aux(data, time, 2120, cpu=self.last, flags=flags, skip=skip)
