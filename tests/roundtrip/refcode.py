#!/usr/bin/env python3
"""Program counters of ../shared/corpus/refcode, encoded in every setting and decoded again, come back the same.

ECALL and EBREAK are left out: the simulator lists them, but they do not retire. Without --large, the streams are
also held byte for byte against the reference encoder's, with options for its choices (docs/encoder.md).

refcode.py NTRACE [--large|--large-every]   --large: the lists that are left out otherwise, each but coremark in one setting; --large-every: all in three
"""
import os
import re
import struct
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import NTRACE, check, corpus_cases, main, need

EVERY = "--large-every" in sys.argv
ALL_LARGE = EVERY or "--large" in sys.argv
LARGE = {"coremark", "embench-crc32", "embench-nettle-sha256", "embench-statemate"}

# options of the encoder, options of the decoder
COMMON = [
    ("--mode btm", ""),
    ("--mode htm", ""),
    ("--best", "--implicit-return full --sequential-jump"),
]
SETTINGS = COMMON + [
    ("--repeated-history", ""),
    ("--repeated-history --history-repeats whole", ""),
    ("--repeated-history --hist-bits 9 --hrepeat-bits 3", ""),
    ("--implicit-return full --return-stack 8", "--implicit-return full --return-stack 8"),
    ("--implicit-return full --return-stack 1 --repeated-history", "--implicit-return full"),
    ("--implicit-return partial --compare-bits 20", "--implicit-return partial"),
    ("--implicit-return count", "--implicit-return count"),
    ("--mode btm --implicit-return full --repeated-history", "--implicit-return full"),
    ("--mode btm --all-jumps", "--all-jumps"),
    ("--mode htm --all-jumps --repeat-branch", "--all-jumps"),
    ("--mode htm --itype-width 3", ""),
    ("--mode htm --sequential-jump --extend-addr", "--sequential-jump --extend-addr"),
    ("--mode htm --icnt-bits 6 --hist-bits 5", ""),
    ("--mode htm --icnt-bits 6 --hist-bits 5 --full after --full-first hist", ""),
    ("--mode btm --icnt-bits 5 --icnt-full sync", ""),
    ("--mode btm --icnt-bits 5 --icnt-full sync --full after", ""),
    ("--mode htm --empty-hist send --empty-cdf 0", ""),
    ("--mode btm --sync-mode messages --sync-max 1", ""),
    ("--mode htm --sync-mode halfwords --sync-max 4 --sync-form exact", ""),
    ("--mode btm --sync-mode cycles --sync-max 3 --sync-form exact", ""),
    ("--best --sync-mode halfwords --sync-max 6", "--implicit-return full --sequential-jump"),
    ("--best --timestamps --context --src-bits 3 --src-id 5", "--implicit-return full --sequential-jump --src-bits 3 --timestamps"),
    ("--mode htm --timestamps --ts-width 16 --ts-prescale 1 --ts-messages branch", "--timestamps"),
    ("--mode htm --fifo 100000 --drain 0", ""),
    ("--mode btm --fifo 76 --drain 2 --stall", ""),
]


HABITS = "--start-sync 1 --stop-evcode 0 --empty-cdf 0"
REFERENCE = {
    "btm": "--mode btm",
    "htm": "--mode htm",
    "htm-stack": "--mode htm --implicit-return full --return-stack 8 --early-returns",
}


def environment_calls(elf):
    """Addresses of all that may be an ECALL, EBREAK or C.EBREAK in a 64-bit ELF."""
    data = open(elf, "rb").read()
    offset, size, count = struct.unpack_from("<Q", data, 32) + struct.unpack_from("<HH", data, 54)
    found = []
    for i in range(count):
        kind, flags, at, address, _, length = struct.unpack_from("<IIQQQQ", data, offset + i * size)
        if kind == 1 and flags & 1:
            found += [address + m.start() for m in re.finditer(rb"\x73\0[\0\x10]\0|\x02\x90", data[at:at + length])
                      if m.start() % 2 == 0]
    return found


def compare(command, *arguments):
    need("zstd")
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command, "bash", *arguments], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    check(done.returncode == 0, f"status {done.returncode}: {done.stdout}")


def same(folder, encode, decode):
    left_out = "|".join(hex(a) for a in environment_calls(f"{folder}/program.elf")) or "none"
    command = (f'"$1" encode -e "$2"/program.elf --pc "$2"/pc.txt.zst {encode} | '
               f'"$1" decode - -e "$2"/program.elf --show pc {decode} | '
               'cmp - <(zstd -dc "$2"/pc.txt.zst | grep -vxE "$3")')
    compare(command, NTRACE, folder, left_out)


def identical(folder, setting):
    command = (f'"$1" encode -e "$2"/program.elf --pc "$2"/pc.txt.zst {REFERENCE[setting]} {HABITS} | '
               'cmp - <(zstd -dc "$2"/"$3".nex.zst)')
    compare(command, NTRACE, folder, setting)


def cases(top):
    programs = [name for name in sorted(os.listdir(top)) if os.path.isdir(os.path.join(top, name)) and (name in LARGE) == ALL_LARGE
                and (EVERY or name != "coremark")]
    for number, program in enumerate(programs):
        for encode, decode in SETTINGS if not ALL_LARGE else COMMON if EVERY else [COMMON[number % len(COMMON)]]:
            yield f"{program} {encode}", same, os.path.join(top, program), encode, decode
    for program in programs if not ALL_LARGE else ():
        for setting in REFERENCE:
            yield f"{program} {setting} is the reference's", identical, os.path.join(top, program), setting


corpus_cases("refcode", 12 if EVERY else 3 if ALL_LARGE else 217, cases)
main()
