#!/usr/bin/env python3
"""Each program runs twice: plainly, with QEMU's own execution log, and under `ntrace run`. The program counters that
`ntrace decode` gives must be those of the log, one by one, whatever the encoder's options.

usage: truth.py NTRACE PROGRAMS [NAME...]      PROGRAMS is a folder with the programs that tests/programs/build made
"""
import functools
import os
import resource
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
import qemu_log
import user_qemu
from harness import ADDRESSES, NTRACE, case, check, equal, folder, main, note

PROGRAMS, NAMES = sys.argv[2], sys.argv[3:]
MODES = {"htm": ["--mode", "htm"], "btm": ["--mode", "btm"]}
LIVE = {"endless", "family", "named", "parallel", "replaced", "senders", "sought", "timer"}  # runs differ from each other: live.py, children.py, ends.py
VARIANTS = ("algorithms-no-pie", "algorithms-wide") if not NAMES else ()  # of a program that is daily in three other forms
MORE_MODES = {"best": ["--best"], "btm, implicit returns": ["--mode", "btm", "--implicit-return", "full"],
              "calls are counted": ["--implicit-return", "count"], "timestamps": ["--timestamps"]}
SYSROOT = "/usr/riscv64-linux-gnu"
CACHE = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # a QEMU that tools/fetch_qemu has built is there
ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": "/", "XDG_CACHE_HOME": CACHE}


def xlen_of(path):
    with open(path, "rb") as file:
        return 32 if file.read(5)[4] == 1 else 64


def run(command, **more):
    return subprocess.run(command, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=60, **more)


def limit_files():
    """A program that does not end must not fill the disk with its log."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (256 << 20, resource.RLIM_INFINITY))


def plain_run(program, log):
    xlen = xlen_of(program)
    qemu = [f"qemu-riscv{xlen}", "-L", SYSROOT, *user_qemu.repeatable(xlen), *user_qemu.plain_cpu(xlen)]
    done = run(qemu + [*user_qemu.single_step(), "-d", "exec,nochain,in_asm,strace", "-D", log, program])
    return done.returncode if done.returncode >= 0 else 128 - done.returncode, done.stdout


def traced_run(program, bundle, options):
    command = [NTRACE, "run", "-L", SYSROOT, *user_qemu.for_ntrace(user_qemu.repeatable(xlen_of(program))), "-o", bundle] + options
    done = run(command + ["--", program])
    return done.returncode, done.stdout, done.stderr.decode()


def decoded(bundle, hart):
    done = run([NTRACE, "decode", bundle, "--src", str(hart), "--show", "pc"])
    return ADDRESSES.of(done.stdout.split()), done.returncode, done.stderr.decode()


def first_difference(expected, found):
    n = min(len(expected), len(found))
    at = next((i for i in range(n) if expected[i] != found[i]), n)
    around = slice(max(0, at - 3), at + 4)
    return (f"instruction {at}: expected {[hex(x) for x in expected[around]]}, found {[hex(x) for x in found[around]]}"
            f" ({len(expected)} and {len(found)} in all)")


def in_own_code(program, pcs):
    """The instructions executed in `work` and `main`. With threads, the C library waits or does not wait as the two runs have it, and
    the log does not say which thread QEMU stopped before an instruction: so only the program's own code is the same
    in both runs, and an instruction that was stopped and logged again counts once."""
    listed = run(["riscv64-linux-gnu-nm", "-S", program]).stdout.decode().split("\n")
    rows = [line.split() for line in listed if line.endswith((" work", " main"))]
    ranges = [(int(row[0], 16), int(row[0], 16) + int(row[1], 16)) for row in rows]
    own = {pc for pc in set(pcs) if any(low <= pc < high for low, high in ranges)}
    kept = [pc for pc in pcs if pc in own]
    return [pc for at, pc in enumerate(kept) if at == 0 or kept[at - 1] != pc]


@functools.cache
def truth(program):
    """Status, output and log of a plain run."""
    log_file = os.path.join(folder(), "log")
    status, output = plain_run(program, log_file)
    log = qemu_log.Log(log_file)
    note(f"{sum(map(len, log.harts.values()))} instructions")
    return status, output, log


def compare(program, options):
    status, output, log = truth(program)
    bundle = os.path.join(folder(), "t.ntrace")
    got_status, got_output, errors = traced_run(program, bundle, options)
    check((got_status, got_output) == (status, output),
          f"status {got_status}, expected {status}; output {got_output!r}, expected {output!r}\n{errors}")
    check(log.harts, "no instruction in the log")
    for hart, expected in sorted(log.harts.items()):
        found, decode_status, errors = decoded(bundle, hart)
        if "forked" in errors:
            # The log also has the child's instructions, under the same CPU: it contains the traced ones, in order.
            rest = iter(log.lines[hart])
            if len(found) > len(expected) / 3 and all(pc in rest for pc in found):
                continue
        if program.endswith("threads"):
            found, expected = in_own_code(program, found), in_own_code(program, log.lines[hart])
            check(expected, f"hart {hart}: nothing of the program's own code ran")
        check(found == expected, found == expected or f"hart {hart}: {first_difference(expected, found)}\n{errors}")
        equal(decode_status, 0, f"hart {hart}: status of decode; {errors}")


limit_files()
for each_name in NAMES or sorted(name for name in os.listdir(PROGRAMS) if "." not in name and name not in LIVE):
    for each_mode, each_options in {**MODES, **(MORE_MODES if each_name in ("algorithms", "signals", "escapes") else {})}.items():
        case(f"{each_name}, {each_mode}", os.path.join(PROGRAMS, each_name), each_options, long=each_name in VARIANTS)(compare)
main()
