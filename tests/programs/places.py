#!/usr/bin/env python3
"""An address means what was there when it was executed: programs that replace themselves (execve), files that are mapped where
another one was, and files that are removed or replaced, in every consumer of names, lines and counts. The truth is how often the
source calls each function.

usage: places.py NTRACE
"""
import json
import os
import re
import struct
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
import user_qemu  # may change PATH
from harness import Run, case, check, equal, main, need, scratch
sys.path.append(os.path.join(sys.path[0], "..", "gdb"))
from gdb import Session
from named_calls import by_callgrind, by_partial, by_profile, by_sqlite, by_tree, compare

FIRST = """#include <unistd.h>
__attribute__((noinline)) int work_a(int n) { volatile int s = 0; for (int i = 0; i < n; i++) s += i; return s; }
int main(int argc, char **argv) { work_a(10); if (argc > 1) execv(argv[1], argv + 1); return 3; }
"""
SECOND = """static __attribute__((noinline)) int helper(int n) { if (n > 5) return n - 1; return n; }
__attribute__((noinline)) int work_b(int n) { int s = 0; while (n-- > 0) { s += helper(n); } return s; }
int main(void) { return work_b(20) == 0; }
"""
FILES = {"a": FIRST, "b": SECOND}
# FILE OFFSET CALLS ...: maps each file at one address, calls its function, and unmaps it again.
HOST = """#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
int main(int argc, char **argv) {
    for (int i = 1; i + 2 < argc; i += 3) {
        int fd = open(argv[i], O_RDONLY);
        char *at = mmap((void *)0x3000000000, 65536, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0);
        close(fd);
        if (getenv("REMOVE")) unlink(argv[i]);
        int (*entry)(int) = (int (*)(int))(at + strtoul(argv[i + 1], 0, 16));
        for (int n = atoi(argv[i + 2]); n > 0; n--) entry(n);
        munmap(at, 65536);
    }
    return 0;
}
"""
LIBRARY = """static __attribute__((noinline)) int leaf_{0}(int n) {{ volatile int s = n; return s + {0}; }}
{1}
int entry_{0}(int n) {{ return leaf_{0}(n) + leaf_{0}(n + 1); }}
"""
# Moves another program to its own place while it runs.
REPLACED = """#include <stdio.h>
#include <unistd.h>
__attribute__((noinline)) int work(int n) { volatile int s = 0; for (int i = 0; i < n; i++) s += i; return s; }
__attribute__((noinline)) int own(int argc, char **argv) { work(5); if (argc > 1) rename(argv[1], argv[0]); else unlink(argv[0]); work(8); return 0; }
int main(int argc, char **argv) { return own(argc, argv); }
"""


# first runs into second without a jump, second into third behind a branch that is not taken, third into fourth when its loop ends.
FALLING = """.globl _start
.macro function name
.type \\name, @function
\\name:
.endm
.macro ends name
.size \\name, . - \\name
.endm
function _start
  call first
  call first
  j stop
ends _start
function first
  addi sp, sp, -16
  sd ra, 0(sp)
  addi a0, a0, 1
ends first
function second
  addi a1, a1, 1
  call helper
  addi a1, a1, 2
  bnez x0, third
ends second
function third
  li t0, 3
1: addi t0, t0, -1
  bnez t0, 1b
ends third
function fourth
  call helper
  ld ra, 0(sp)
  addi sp, sp, 16
  ret
ends fourth
function helper
  ret
ends helper
function stop
  li a0, 0
  li a7, 93
  ecall
ends stop
"""
# {function: calls, instructions in a call}; `ecall` does not retire
FALLEN = {"_start": (1, 3), "first": (2, 3), "second": (2, 4), "third": (2, 7), "fourth": (2, 4), "helper": (4, 1), "stop": (1, 2)}


def program(name, text, *flags, source=None):
    """Compiles a program, or a library."""
    gcc, source = need("riscv64-linux-gnu-gcc"), (source or name) + ".c"
    with open(os.path.join(scratch(), source), "w", encoding="ascii") as file:
        file.write(text)
    subprocess.run([gcc, "-g", "-O0", *(flags or ("-static",)), source, "-o", name], cwd=scratch(), check=True)


def compiled():
    need("qemu-riscv64")
    for name, text in FILES.items():
        if not os.path.exists(os.path.join(scratch(), name)):
            program(name, text)
            program(name + "_dynamic", text, "-pie", source=name)
    return scratch()


def recorded(bundle, *command, status=0):
    folder = compiled()
    Run("run", *user_qemu.for_ntrace(user_qemu.repeatable()), "-q", "-o", bundle, "--", *command, cwd=folder, status=status)
    return os.path.join(folder, bundle)


# ---- files that are mapped, unmapped, removed and replaced


def libraries(count):
    """Libraries with functions at overlapping addresses: [(file, offset of entry_N)]."""
    folder, made = compiled(), []
    program("host", HOST)
    for k in range(count):
        padding = f"int padding_{k}(int a) {{ return a * a + a * 7; }}" if k % 2 else ""
        program(f"l{k}.so", LIBRARY.format(k, padding), "-O1", "-shared", "-fPIC", "-nostdlib")
        symbols = subprocess.run(["riscv64-linux-gnu-nm", f"l{k}.so"], cwd=folder, check=True, capture_output=True, text=True).stdout
        made.append((f"l{k}.so", re.search(rf"(?m)^(\w+) T entry_{k}$", symbols)[1]))
    return made


@case("libraries at one address, one after the other, and the first one again")
def reused():
    made = libraries(3)
    arguments = [word for k, calls in ((0, 1), (1, 2), (2, 3), (0, 4)) for word in (*made[k], str(calls))]
    truth = {"entry_0": 5, "leaf_0": 10, "entry_1": 2, "leaf_1": 4, "entry_2": 3, "leaf_2": 6}
    compare(recorded("reused.ntrace", "./host", *arguments), truth)


@case("searches for a function: other code that was at its address does not count")
def searched():
    made = libraries(2)
    program("long.so", "int long_one(int n) { volatile int s = n; " + "s += 1; " * 40 + "return s; }\n", "-O1", "-shared", "-fPIC", "-nostdlib")
    symbols = subprocess.run(["riscv64-linux-gnu-nm", "long.so"], cwd=scratch(), check=True, capture_output=True, text=True).stdout
    bundle = recorded("searched.ntrace", "./host", "./long.so", re.search(r"(?m)^(\w+) T long_one$", symbols)[1], "3", *made[1], "2")
    insns = [row for row in Run("decode", bundle, "--show", "insn", "--format", "jsonl").rows() if "opcode" in row]
    truth = {"long_one": 3, "entry_1": 2, "leaf_1": 4}
    session = Session(bundle)
    for name, count in truth.items():
        address = next(row["address"] for row in insns if row["symbol"] == name)
        executed = [at for at, row in enumerate(insns) if row["address"] == address]
        check(name == "long_one" or len(executed) > count, f"other code was executed at the address of {name}")
        places = [at for at in executed if insns[at]["symbol"] == name]
        equal(len(places), count, name)
        said = session.monitor(f"hits {name}")
        check(f" {count} times" in said and f"first as instruction {places[0]}, last as instruction {places[-1]} " in said, said)
        found, positions = {"position": 0}, []
        while len(positions) <= count:
            query = json.dumps({"query": "find", "text": name, "position": found["position"]})
            found = json.loads(Run("explore", "--cache", "none", bundle, "--ask", query).out)
            if not found["found"]:
                break
            positions.append(found["position"])
        equal(positions, places, f"find {name}")
    session.close()


@case("libraries whose files are removed after they were mapped")
def removed():
    made = libraries(3)
    arguments = [word for k, calls in ((0, 1), (1, 2), (2, 3)) for word in (*made[k], str(calls))]
    truth = {"entry_0": 1, "leaf_0": 2, "entry_1": 2, "leaf_1": 4, "entry_2": 3, "leaf_2": 6}
    os.environ["REMOVE"] = "1"
    try:
        bundle = recorded("removed.ntrace", "./host", *arguments)
    finally:
        del os.environ["REMOVE"]
    check(not os.path.exists(os.path.join(compiled(), "l0.so")), "the program removes the files")
    compare(bundle, truth)


def with_segments(path, made, count):
    """The file with so many empty segments before its own."""
    with open(path, "rb") as file:
        data = file.read()
    begin, size, number = struct.unpack_from("<Q", data, 32)[0], *struct.unpack_from("<HH", data, 54)
    empty = b"".join(struct.pack("<IIQQQQQQ", 1, 4, 0x100000, 0x10000000 + 4096 * i, 0, 0, 0, 4096) for i in range(count))
    head = bytearray(data + bytes(-len(data) % 8))
    struct.pack_into("<Q", head, 32, len(head))
    struct.pack_into("<H", head, 56, count + number)
    with open(made, "wb") as file:
        file.write(head + empty + data[begin:begin + size * number])


@case("a library with many segments has its names", 200, True)
@case("a library with more segments than are looked at: its code has no names, and the capture says so", 256, False)
def many_segments(count, named):
    (path, offset), folder = libraries(1)[0], scratch()
    with_segments(os.path.join(folder, path), os.path.join(folder, "many.so"), count)
    bundle = recorded(f"many{count}.ntrace", "./host", "./many.so", offset, "3")
    error = Run("profile", bundle).err
    equal("many.so could not be read when it was mapped, or has too many segments; its code has no names" in error, not named, error)
    if named:
        compare(bundle, {"entry_0": 3, "leaf_0": 6})
    else:
        check("entry_0" not in Run("decode", bundle).out, "a name of the library")


@case("a program that removes its own file")
def unlinked():
    program("unlinked", REPLACED)
    compare(recorded("unlinked.ntrace", "./unlinked"), {"work": 2, "own": 1})


@case("a program that puts another one in its place")
def replaced():
    other = REPLACED.replace("__attribute__((noinline)) int own", "int extra(int k) { return k * 5; }\nint padding(int k) { return extra(k) + 1; }\nint own")
    program("replaced", REPLACED)
    program("other", other)
    bundle = recorded("replaced.ntrace", "./replaced", "./other")
    compare(bundle, {"work": 2, "own": 1})
    check("extra" not in Run("coverage", "--to", "lcov", bundle).out, "functions of the file that did not run")


# ---- generated code


def jitted(mode):
    folder, gcc = compiled(), need("riscv64-linux-gnu-gcc")
    if not os.path.exists(os.path.join(folder, "jitted")):
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "jitted.c")
        subprocess.run([gcc, "-g", "-O1", "-w", "-static", "-pthread", source, "-o", "jitted"], cwd=folder, check=True)
    bundle = recorded(f"jitted_{mode}.ntrace", "./jitted", mode)
    with open(os.path.join(bundle, "capture.json"), encoding="utf-8") as file:
        for name in {image["name"] for image in json.load(file)["images"] if "symbol" in image}:
            os.remove(name)  # the program leaves it in /tmp
    return bundle


@case("code that is generated again at one address, with names in a perf map", "m")
@case("code that is generated again at one address, with names in a jitdump file", "d")
def generated(mode):
    truth = {f"jitted_{k}": k + 1 for k in range(4)} | {"moved_here": 1, "same_bytes_new_name": 2} | ({"moves": 4} if mode == "d" else {})
    compare(jitted(mode), truth, lined=lambda name: False)


@case("code that is generated again for four threads, with a perf map", "t")
@case("code that is generated again for four threads, with a jitdump file", "dt")
def generated_threads(mode):
    truth = {f"round_{k}": 4 for k in range(20)}
    compare(jitted(mode), truth, lined=lambda name: False)


# ---- execve


@case("a static program executes another one at the same addresses")
def another():
    compare(recorded("ab.ntrace", "./a", "./b"), {"work_a": 1, "work_b": 1, "helper": 20})


@case("a static program executes itself")
def itself():
    bundle = recorded("aa.ntrace", "./a", "./a", status=3)
    compare(bundle, {"work_a": 2})
    text = Run("coverage", "--to", "lcov", bundle).out
    equal(re.findall(r"(?m)^DA:3,(\d+)", text), ["2"], "executions of the line of main")


@case("a dynamic program executes another one")
def dynamic():
    compare(recorded("dynamic.ntrace", "./a_dynamic", "./b_dynamic"), {"work_a": 1, "work_b": 1, "helper": 20})


@case("the stack of the program that was replaced is not that of the next one")
def stacks():
    text = Run("flame", "--to", "folded", recorded("ab.ntrace", "./a", "./b")).out
    stack = next(line for line in text.splitlines() if ";work_b " in line)
    check("exec" not in stack, stack)


@case("code that runs into the next function: the frame is that of the function whose code runs, as in `bt` of GDB")
def falling():
    gcc, path = need("riscv64-linux-gnu-gcc"), os.path.join(scratch(), "falling")
    need("qemu-riscv64")
    with open(path + ".S", "w", encoding="ascii") as file:
        file.write(FALLING)
    subprocess.run([gcc, "-nostdlib", "-static", path + ".S", "-o", path], check=True)
    bundle = path + ".ntrace"
    Run("run", *user_qemu.for_ntrace(user_qemu.repeatable()), "-q", "-o", bundle, "--", path)
    calls, own = ({name: number(*row) for name, row in FALLEN.items()} for number in (lambda n, _: n, lambda n, each: n * each))
    consumers = {"profile": by_profile, "profile -j 2": lambda b, w: by_profile(b, w, "-j", "2"), "calltree": by_tree, "partial answer": by_partial,
                 "sqlite": by_sqlite}
    for name, consumer in consumers.items():
        equal(consumer(bundle, FALLEN.__contains__), calls, name)
    rows = {row["function"]: row["self"] for row in Run("profile", bundle, "--format", "jsonl").rows()}
    equal(rows, own, "instructions of the functions")
    stacks = dict(re.findall(r"(?m)^(\S+) (\d+)$", Run("flame", "--to", "folded", bundle).out))
    equal(stacks, {"_start": "3", "stop": "2", "_start;first": "6", "_start;second": "8", "_start;second;helper": "2", "_start;third": "14",
                   "_start;fourth": "8", "_start;fourth;helper": "2"}, "stacks")
    equal(by_callgrind(bundle, FALLEN.__contains__), {name: n for name, n in calls.items() if name not in ("_start", "stop")}, "callgrind")
    equal([event["name"] for event in json.loads(Run("timeline", "--to", "chrome", bundle).out)["traceEvents"] if event["ph"] in "BX"],
          ["_start", *["first", "second", "helper", "third", "fourth", "helper"] * 2, "stop"], "timeline")
    part = path + ".events"
    Run("decode", "--partial", part, bundle)
    for words in (["decode"], ["timeline", "--to", "chrome"], ["profile", "--format", "jsonl"], ["flame", "--to", "folded"]):
        equal(Run("combine", part, *words).out, Run(words[0], bundle, *words[1:]).out, f"{words[0]} of all events")
    top = {name: share for share, name in re.findall(r"(?m)^ *([\d.]+) %  (\w+)$", Run("top", bundle).out)}
    equal(top, {name: f"{100 * n / sum(own.values()):.2f}" for name, n in own.items()}, "top")


if __name__ == "__main__":
    main()
