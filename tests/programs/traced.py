"""A program under `ntrace run` and under QEMU's execution log at the same time, and the comparison of both. Used by live.py, children.py and
ends.py, whose second argument is the folder of the programs."""
import collections
import functools
import os
import re
import resource
import subprocess
import sys

import qemu_log
import user_qemu
from harness import ADDRESSES, NTRACE, Memo, Run, check, equal, scratch

FOLDER = os.path.abspath(sys.argv[2])
PLAIN = "--no-compress", "--no-repeated-history"  # otherwise the stream of an endless loop hardly grows
LOG_LIMIT = 256 << 20  # maximum size of a log in bytes
IN_BLOCK = re.compile(r"^0x([0-9a-f]+):\s+[0-9a-f]+\s+(\S+)")


class BlockLog:
    """The same as qemu_log.Log for a log without -singlestep, of one thread and without faults: a Trace line is a block,
    and its instructions are those listed when it was translated."""

    def __init__(self, path):
        blocks, block, pcs = {}, None, []
        executed = Memo(lambda line: [int(found[2], 16) for found in qemu_log.TRACE.finditer(line)])
        with open(path, encoding="latin-1") as log:
            for line in log:
                if line.startswith("IN:"):
                    block = None
                elif found := IN_BLOCK.match(line):
                    pc = int(found[1], 16)
                    if block is None:
                        block = blocks[pc] = []
                    if found[2] not in qemu_log.NEVER_RETIRE:
                        block.append(pc)
                elif line.startswith("Stopped"):
                    pcs = pcs[:-len(blocks[int(qemu_log.STOPPED.match(line)[1], 16)])]
                else:
                    for pc in executed[line]:
                        pcs += blocks[pc]
        self.harts = {0: pcs}


def path_of(name):
    return os.path.join(scratch(), name)


def command(name, *options, bundle="live.ntrace", operands=()):
    return [NTRACE, "run", *options, "-o", path_of(bundle), "--", os.path.join(FOLDER, name), *operands]


def limit_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (LOG_LIMIT, resource.RLIM_INFINITY))


def logged_run(name, *options, status=0, singlestep=True, operands=()):
    log = path_of("log")
    if os.path.exists(log):
        os.unlink(log)
    qemu = (user_qemu.single_step() if singlestep else []) + ["-d", "exec,nochain,in_asm,strace", "-D", log]
    done = subprocess.run(command(name, *[f"--qemu-option={word}" for word in qemu], *options, operands=operands),
                          capture_output=True, timeout=120)
    equal(done.returncode, status, f"exit status ({done.stderr.decode()})")
    check(os.path.getsize(log) < LOG_LIMIT, "the log is not complete")
    return (qemu_log.Log if singlestep else BlockLog)(log), done.stderr.decode()


def decoded(hart=0, bundle="live.ntrace", status=0):
    return ADDRESSES.of(Run("decode", path_of(bundle), "--src", hart, "--show", "pc", status=status).lines())


def decoded_harts():
    """The same for each hart, by its SRC."""
    harts = collections.defaultdict(list)
    for line in Run("decode", path_of("live.ntrace"), "--show", "pc", "--format", "csv").lines()[1:]:
        src, address = line.split(",")
        harts[src].append(ADDRESSES[address])
    return {int(src): found for src, found in harts.items()}


def same(found, expected, what):
    check(expected, f"{what}: nothing was logged")
    if found == expected:  # most lists are equal, and millions long
        return check(True, what)
    n = min(len(found), len(expected))
    at = next((i for i in range(n) if found[i] != expected[i]), n)
    return check(False, f"{what}: instruction {at} of {len(expected)}: expected "
          f"{[hex(pc) for pc in expected[max(0, at - 3):at + 4]]}, found {[hex(pc) for pc in found[max(0, at - 3):at + 4]]}")


@functools.lru_cache
def ranges_of(name, *functions):
    listed = subprocess.run(["riscv64-linux-gnu-nm", "-S", os.path.join(FOLDER, name)], capture_output=True, text=True,
                            check=True).stdout.splitlines()
    rows = [line.split() for line in listed if line.split()[-1:] and line.split()[-1] in (functions or ("work", "main"))]
    return [(int(row[0], 16), int(row[0], 16) + int(row[1], 16)) for row in rows]


def own_code(name, pcs, *functions):
    ranges = ranges_of(name, *functions)
    own = {pc for pc in set(pcs) if any(low <= pc < high for low, high in ranges)}
    return [pc for pc in pcs if pc in own]
