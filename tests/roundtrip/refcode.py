#!/usr/bin/env python3
"""Program counters of ../shared/corpus/refcode, encoded in every setting and decoded again, come back the same.

ECALL and EBREAK are left out: the simulator lists them, but they do not retire. Without --large, the streams are
also held byte for byte against the reference encoder's, with options for its choices (docs/encoder.md).

refcode.py NTRACE [--large]   --large: the lists that are left out otherwise, in fewer settings
"""
import os
import re
import struct
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SHARED = os.environ.get("NTRACE_SHARED", os.path.join(ROOT, "..", "shared"))
LARGE = 2_000_000  # bytes of stream in BTM

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
    "htm-stack": "--mode htm --implicit-return full --return-stack 8",
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
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command, "bash", *arguments], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    return done.returncode == 0, done.stdout


def same(ntrace, folder, encode, decode):
    left_out = "|".join(hex(a) for a in environment_calls(f"{folder}/program.elf")) or "none"
    command = (f'"$1" encode -e "$2"/program.elf --pc "$2"/pc.txt.zst {encode} | '
               f'"$1" decode - -e "$2"/program.elf --output pc {decode} | '
               'cmp - <(zstd -dc "$2"/pc.txt.zst | grep -vxE "$3")')
    return compare(command, ntrace, folder, left_out)


def identical(ntrace, folder, setting):
    command = (f'"$1" encode -e "$2"/program.elf --pc "$2"/pc.txt.zst {REFERENCE[setting]} {HABITS} | '
               'cmp - <(zstd -dc "$2"/"$3".nex.zst)')
    return compare(command, ntrace, folder, setting)


def main():
    ntrace, large = sys.argv[1], "--large" in sys.argv
    top = os.path.join(SHARED, "corpus", "refcode")
    programs = sorted(n for n in os.listdir(top) if os.path.isdir(os.path.join(top, n))) if os.path.isdir(top) else []
    if not programs:
        print("1..1\nok 1 # SKIP ../shared is missing")
        return
    is_large = {"coremark", "embench-crc32", "embench-nettle-sha256", "embench-statemate"}
    programs = [p for p in programs if (p in is_large) == large]
    rows = [(f"{p} {e}", same, (p, e, d)) for p in programs for e, d in (COMMON if large else SETTINGS)]
    if not large:
        rows += [(f"{p} {s} is the reference's", identical, (p, s)) for p in programs for s in REFERENCE]
    print(f"1..{len(rows)}")
    failed = 0
    for number, (name, check, (program, *rest)) in enumerate(rows, 1):
        good, text = check(ntrace, os.path.join(top, program), *rest)
        failed += not good
        print(f"{'ok' if good else 'not ok'} {number} {name}", flush=True)
        if not good:
            print("# " + text.strip().replace("\n", "\n# "))
    sys.exit(1 if failed else 0)


main()
