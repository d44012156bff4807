#!/usr/bin/env python3
"""GDB servers with the restrictions that those of J-Link and probe-rs are documented to have: a capture uses nothing else."""
import os
import re
import shutil
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from board_memory import Memory
from boards import TOPOLOGY, follows, program, topology
from harness import Run, case, check, equal, main, scratch
from link_kinds import SilentGdb, StrictGdb

BUFFER = TOPOLOGY.replace('"sram": 1024', '"sram": 0, "smem": true, "smem_start": "0x90000000", "smem_size": 4096')


def captures(kind, text, until, *ram):
    elf, pc, pcs = program()
    path, bundle = topology(text), os.path.join(scratch(), "strict.ntrace")
    memory = Memory(path, ["-e", elf, "--pc", pc, "--rate", "100", *ram])
    link = kind(memory)
    try:
        shutil.rmtree(bundle, ignore_errors=True)
        status, shown = link.run(["capture", "-o", bundle, "-e", elf, "-t", path, "--resume", *until, "--quiet"])
        check(status in (0, 1) and not re.search("closed|answer within", shown), f"status {status}: {shown}")
        equal(link.refused, [], "packets that the server refuses")
        check(link.longest <= kind.size, f"a packet of {link.longest} characters")
        follows(Run("decode", bundle, "--show", "pc", status=None).lines(), pcs)
    finally:
        link.close()
        memory.end()


for each_kind, what in (StrictGdb, "packets of 64 characters"), (SilentGdb, "no qSupported"):
    @case(f"{what}, acknowledgements, no vCont, no qXfer, no access while the hart runs: trace of the sink's own memory")
    def _(kind=each_kind):
        captures(kind, TOPOLOGY, ["--until-halt", "--for", "300ms"])

    @case(f"{what}: trace in system memory")
    def _(kind=each_kind):
        captures(kind, BUFFER, ["--until-full"], "--ram", "0x90000000:0x1000")


main()
