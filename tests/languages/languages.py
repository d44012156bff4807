#!/usr/bin/env python3
"""Programs in every language for which there is a compiler: names, calls, lines, call stacks. docs/languages.md has the table.

usage: languages.py NTRACE

Names and calls are those that the sources say: a comment "count N" has the executions of its line. Stacks are those that GDB unwinds from
debug information, in the same program under QEMU's gdbstub, at the first execution of POINTS addresses.
"""
import bisect
import collections
import glob
import json
import os
import random
import re
import shutil
import socket
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import NTRACE, ROOT, Run, case, check, equal, main, need, note, scratch, skip

HERE = os.path.dirname(os.path.abspath(__file__))
GNU = "riscv64-linux-gnu-"
SYSROOT = "/usr/riscv64-linux-gnu"
POINTS = 1000
RUST = "rustc libstd-rust-1.85 libstd-rust-dev libllvm19 libstdc++6 libgcc-s1 zlib1g libffi8 libz3-4 libxml2 libedit2 libc6 libzstd1 libtinfo6 " \
       "liblzma5 libbsd0 libmd0 libicu76 libatomic1"

OCAML = "ocaml-nox ocaml-base-nox ocaml ocaml-base libstdlib-ocaml-dev libstdlib-ocaml libzstd1"

# source: FILE of this folder; build: (level, source, out); calls: {function: calls}; roots: the outermost functions that GDB finds; restores:
# functions in which some registers are those of the frame that they continue.
Language = collections.namedtuple("Language", "source build calls roots restores")
RESTORES = {"__longjmp", "uw_install_context_1", "_Unwind_RaiseException", "_Unwind_Resume", "_Unwind_ForcedUnwind", "_Unwind_Resume_or_Rethrow"}
FIBERS = {"caml_perform", "caml_resume", "caml_runstack", "camlStdlib__Effect.effc_501"}


def compiler(*names):
    """The first of these compilers that is there."""
    for name in names:
        if shutil.which(name):
            return name
    return skip("language-compiler")


def gnu(name, level, source, out):
    subprocess.run([compiler(GNU + name), "-g", level, "-static", source, "-o", out], check=True, cwd=scratch(), stderr=subprocess.DEVNULL)


def ada(level, source, out):
    tool = compiler(*sorted(map(os.path.basename, glob.glob(f"/usr/bin/{GNU}gnatmake-*"))))
    folder = out + ".ada"
    os.makedirs(folder)
    subprocess.run([tool, "-q", "-g", level, source, "-o", out, "-bargs", "-static", "-largs", "-static"], cwd=folder, check=True)


def go(level, source, out):
    env = dict(os.environ, GOARCH="riscv64", GOOS="linux", CGO_ENABLED="0", GOFLAGS="-mod=mod", GOCACHE=os.path.join(scratch(), "go"), HOME=scratch())
    flags = ["-gcflags=-N -l"] if level == "-O0" else []
    subprocess.run([need("go") or "go", "build", *flags, "-o", out, source], env=env, check=True, cwd=scratch())


def rust(level, source, out):
    """With Debian's compiler for riscv64, under QEMU."""
    fetched = subprocess.run([os.path.join(ROOT, "tools/debian_root"), "--no-depends", *RUST.split()], capture_output=True, text=True, check=False)
    if fetched.returncode:
        skip("language-compiler")
    root = fetched.stdout.strip()
    subprocess.run(["qemu-riscv64", "-s", "67108864", "-L", root, "-E", f"LD_LIBRARY_PATH={root}/usr/lib/riscv64-linux-gnu", f"{root}/usr/bin/rustc",
                    "--sysroot", f"{root}/usr", "-g", "-C", f"opt-level={level[2:]}", "-C", "target-feature=+crt-static",
                    "-C", f"linker={GNU}gcc", source, "-o", out], check=True)


def ocaml(level, source, out):
    """With Debian's compiler for riscv64, under QEMU. Its runtime is of a later C library, which has other names of strtol."""
    fetched = subprocess.run([os.path.join(ROOT, "tools/debian_root"), "--no-depends", *OCAML.split()], capture_output=True, text=True, check=False)
    compiler_of = glob.glob(os.path.join(fetched.stdout.strip(), "usr/lib/riscv64-linux-gnu/ocaml/*/stdlib.cmxa"))
    if fetched.returncode or not compiler_of:
        skip("language-compiler")
    root, folder = fetched.stdout.strip(), out + ".ocaml"
    os.makedirs(folder)
    shutil.copy(source, folder)
    with open(os.path.join(folder, "names.c"), "w", encoding="ascii") as file:
        for name, result in ("strtol", "long"), ("strtoul", "unsigned long"), ("strtoll", "long long"), ("strtoull", "unsigned long long"):
            file.write(f"extern {result} {name}(const char *, char **, int);\n"
                       f"{result} __isoc23_{name}(const char *a, char **b, int c) {{ return {name}(a, b, c); }}\n")
        file.write("int __isoc23_sscanf(const char *a, const char *b, ...) { __builtin_trap(); }\n")
    subprocess.run([GNU + "gcc", "-c", "names.c"], cwd=folder, check=True)
    subprocess.run(["qemu-riscv64", "-L", root, f"{root}/usr/bin/ocamlopt.opt", "-g", "-ccopt", "-static", "-cc", GNU + "gcc", "-o", out,
                    os.path.basename(source), "names.o"], cwd=folder, env=dict(os.environ, OCAMLLIB=os.path.dirname(compiler_of[0])), check=True,
                   stderr=subprocess.DEVNULL)


def of_gnu(name):
    return lambda level, source, out: gnu(name, level, source, out)


LANGUAGES = {
    "C": Language("work.c", of_gnu("gcc"), {"fibonacci": 465, "round_area": 10, "square_area": 10, "deep": 70, "attempt": 7, "even": 41, "odd": 40},
                  {"_start"}, RESTORES),
    "C++": Language("work.cc", of_gnu("g++"), {"fibonacci(int)": 465, "shapes::Round::area(int) const": 10, "shapes::Square::area(int) const": 10,
                                               "int twice<int>(int)": 50, "deep(int)": 70, "attempt(int)": 7}, {"_start"}, RESTORES),
    "Fortran": Language("work.f90", of_gnu("gfortran"), {"fibonacci": 465, "round_area": 10, "square_area": 10}, {"_start"}, RESTORES),
    "Ada": Language("work.adb", ada, {"work__fibonacci": 465, "work__deep": 70, "work__attempt": 7, "work__shapes__area__2": 20}, {"_start"}, RESTORES),
    "D": Language("work.d", of_gnu("gdc"), {"work.fibonacci": 465, "work.deep": 70, "work.attempt": 7, "work.twice!(...).twice": 50,
                                              "work.Round.area": 10, "work.Square.area": 10}, {"_start"}, RESTORES),
    "Go": Language("work.go", go, {"main.fibonacci": 465, "main.deep": 70, "main.attempt": 7, "main.below": 12, "main.(*round).area": 10,
                                   "main.(*square).area": 10}, {"runtime.goexit.abi0"}, RESTORES),
    "goroutines": Language("goroutines.go", go, {"main.(*walker).visit": 105, "main.send": 90, "main.squares": 2, "main.cubes": 1, "main.leaf": 130,
                                                 "main.yields": 2, "main.grows": 60, "main.recovers": 10, "main.recovers.func1": 10},
                           None, RESTORES),  # which goroutine is the first one at an address differs from run to run
    "contexts": Language("contexts.c", of_gnu("gcc"), {"next": 192, "yield": 186, "leaf": 192, "tree": 156, "squares": 4, "both": 2, "start": 6},
                         {"_start", "__start_context"}, RESTORES),
    "OCaml": Language("work.ml", ocaml, {"camlWork.fibonacci": 465, "camlWork.leaf": 239, "camlWork.deep": 70, "camlWork.attempt": 7,
                                         "camlWork.twice": 50}, {"_start"}, RESTORES),
    # GDB shows the fiber that continues while a function of the runtime is still executed. It doubles the frame of a function that ends with a call.
    "effects": Language("effects.ml", ocaml, {"camlEffects.leaf": 62, "camlEffects.yield": 93, "camlEffects.squares": 1, "camlEffects.next": 93,
                                              "camlEffects.start": 3}, {"_start"}, RESTORES | FIBERS),
    "effects that are passed on": Language("nested.ml", ocaml, {
        "camlNested.leaf": 160, "camlNested.ask": 50, "camlNested.tell": 20, "camlNested.inner": 10, "camlNested.failing": 10, "camlNested.ends": 10,
        "camlNested.cleans": 10, "camlNested.both": 10, "camlNested.catches": 10}, {"_start"}, RESTORES | FIBERS),
    # LLVM makes a loop of the second call of fibonacci.
    "Rust": Language("work.rs", rust, {"work::fibonacci": 233, "work::deep": 70, "work::attempt": 7, "work::twice": 50,
                                       "<work::Round as work::Shape>::area": 10, "<work::Square as work::Shape>::area": 10}, {"_start"}, RESTORES),
}


def built(name, level):
    """The program and its trace, made once."""
    need(GNU + "gcc"), need("qemu-riscv64")
    language = LANGUAGES[name]
    path = os.path.join(scratch(), language.source.replace(".", "-") + level)
    if not os.path.exists(path):
        language.build(level, os.path.join(HERE, language.source), path)
    if not os.path.exists(path + ".ntrace"):
        Run("run", "-q", "-o", path + ".ntrace", "--", path, env=dict(os.environ, GOMAXPROCS="1"))
    return path


def calls(name):
    path, expected = built(name, "-O1"), LANGUAGES[name].calls
    rows = collections.Counter()
    for row in Run("profile", "--format", "jsonl", path + ".ntrace").rows():
        function = re.sub(r"^(caml.*)_\d+$", r"\1", row.get("function") or "")  # OCaml numbers its functions
        if function in expected:
            rows[function] = max(rows[function], row["calls"])
    equal(dict(rows), expected, "calls")


def lines(name):
    path, source = built(name, "-O0"), os.path.join(HERE, LANGUAGES[name].source)
    with open(source, encoding="utf-8") as file:
        said = [re.search(r"count (\d+)(?: \*[/)])?$", line.rstrip()) for line in file]
    expected = {number: int(match[1]) for number, match in enumerate(said, 1) if match}
    found, inside = {}, False
    for line in Run("coverage", "--to", "lcov", path + ".ntrace").out.splitlines():
        if line.startswith("SF:"):
            inside = os.path.basename(line[3:]) == os.path.basename(source)
        if inside and line.startswith("DA:"):
            number, count = map(int, line[3:].split(",")[:2])
            found[number] = count
    check(len(expected) > 5, f"{len(expected)} lines have a count")
    equal({number: found.get(number) for number in expected}, expected, "executions of lines")


def described(path):
    """Ranges of addresses for which there is unwind information."""
    text = subprocess.run([GNU + "readelf", "--debug-dump=frames", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout
    ranges = sorted((int(low, 16), int(high, 16)) for low, high in re.findall(r" FDE .* pc=([0-9a-f]+)\.\.([0-9a-f]+)", text))
    lows = [low for low, _ in ranges]
    return lambda at: (i := bisect.bisect_right(lows, at)) > 0 and at < ranges[i - 1][1]


def symbols(path):
    text = subprocess.run([GNU + "nm", path], stdout=subprocess.PIPE, text=True, check=True).stdout
    rows = sorted((int(row[0], 16), row[2]) for row in map(str.split, text.splitlines()) if len(row) == 3 and row[1] in "tTwW" and row[2][0] != "$")
    starts = [row[0] for row in rows]
    return lambda at: rows[bisect.bisect_right(starts, at) - 1][1] if at >= starts[0] else ""


def after_restore(path, handlers):
    """Addresses between the load of ra, or the release of the stack, and the return: LLVM before version 20 does not describe them. `handlers`: and
    behind the instruction that makes room for a handler of exceptions: OCaml describes it from the next one."""
    text = subprocess.run([GNU + "objdump", "-d", "--no-show-raw-insn", path], stdout=subprocess.PIPE, text=True, check=True).stdout
    found, restored, pushed = set(), False, False
    for address, words in re.findall(r"(?m)^ +([0-9a-f]+):\t(.*)$", text):
        if restored or pushed:
            found.add(int(address, 16))
        pushed = handlers and words == "add\tsp,sp,-16"
        if re.match(r"ld\tra,|addi?\tsp,sp,[1-9]", words):
            restored = True
        elif re.match(r"(ret|j|jr|tail|jal|jalr|b\w+)\b", words):
            restored = False
    return found


def gdb_frames(path, addresses):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    own = dict(os.environ, GOMAXPROCS="1")  # that of the trace: tags of Ada have addresses of the stack
    env = dict(own)
    for key, file in (("ADDRESSES", "addresses.json"), ("FRAMES", "frames.jsonl")):
        env["STOPS_" + key] = os.path.join(scratch(), file)
    env["STOPS_TARGET"] = f"localhost:{port}"
    with open(env["STOPS_ADDRESSES"], "w", encoding="ascii") as file:
        json.dump(addresses, file)
    program = subprocess.Popen(["qemu-riscv64", "-L", SYSROOT, "-g", str(port), path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=own)
    try:
        done = subprocess.run([need("gdb-multiarch") or "gdb-multiarch", "-nx", "-q", "-batch", path, "-x", os.path.join(HERE, "stops.py")],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env, timeout=240, check=False)
    finally:
        program.kill()
        program.wait()
    with open(env["STOPS_FRAMES"], encoding="ascii") as file:
        rows = [json.loads(line) for line in file]
    check(rows, f"GDB stopped nowhere: {done.stdout[-600:]}")
    return {row[0]: row for row in rows}


def asked(bundle, questions):
    answers = []
    for first in range(0, len(questions), 250):
        words = [word for question in questions[first:first + 250] for word in ("--ask", json.dumps(question))]
        answers += map(json.loads, Run("explore", *words, bundle).out.splitlines())
    return answers


def our_frames(bundle, addresses):
    found = asked(bundle, [{"query": "find", "text": hex(address)} for address in addresses])
    stacks = asked(bundle, [{"query": "at", "position": answer.get("position", 0)} for answer in found])
    return {address: [int(frame["address"], 16) if "address" in frame else 0 for frame in answer["stack"]] for address, answer in zip(addresses, stacks)}


def same(theirs, ours):
    """A frame of GDB has the address after the call, ours has the call."""
    return len(theirs) == len(ours) and theirs[0] == ours[0] and all(back - call in (2, 4) for back, call in zip(theirs[1:], ours[1:]))


def stacks(name):
    language, path = LANGUAGES[name], built(name, "-O1")
    fibers = FIBERS <= language.restores
    symbol, has_rules, restored = symbols(path), described(path), after_restore(path, fibers)
    # A garbage collector and a scheduler run when they like; their first executions are at other times.
    own = r"^(main|sort)\." if language.build is go else r"^caml([EN]|Stdlib__Effect|_(apply|re|perform|runstack))" if fibers else ""
    rows = Run("profile", "--by", "instruction", "--top", "100000000", "--format", "jsonl", path + ".ntrace").rows()
    addresses = sorted({int(row["address"], 16) for row in rows if row.get("image") == path and re.search(own, row.get("function") or "")})
    addresses = [address for address in addresses if has_rules(address) and symbol(address) != "_start"]  # GDB begins there
    chosen = sorted(random.Random(1).sample(addresses, min(POINTS, len(addresses))))
    theirs, ours = gdb_frames(path, chosen), our_frames(path + ".ntrace", chosen)
    equal(len(theirs), len(chosen), "addresses at which GDB stopped")
    equals, explained, different = 0, 0, []
    for address, frames in theirs.items():
        mine = ours[address]
        if fibers and symbol(frames[-1]).startswith("caml"):
            mine = mine[:len(frames)]  # GDB ends where a fiber's stack ends
        elif symbol(frames[-1]) not in language.roots or not all(map(has_rules, frames[:-1])):
            continue  # GDB has guessed
        if symbol(frames[-1]) == "runtime.goexit.abi0":  # it is below the first function of a goroutine, and has not called it
            frames = frames[:-1]
        if same(frames, mine):
            equals += 1
        elif address in restored or symbol(address) in language.restores or (fibers and 0 in mine and same(frames[:mine.index(0)], mine[:mine.index(0)])):
            explained += 1  # (0: one of several fibers, and it is not known which)
        else:
            different.append((hex(address), [symbol(at) for at in frames], [symbol(at) for at in mine]))
    note(f"{name}: {equals} stacks are equal, {explained} differ where registers are those of another frame, {len(different)} differ")
    check(equals > 200, f"{equals} of {len(chosen)} stacks are equal; {different[:3]}")
    check(len(different) <= equals // 1000, f"{len(different)} stacks differ from {equals}: {different[:3]}")


for each in LANGUAGES:
    case(f"{each}: names of functions, and their calls", each)(calls)
    if LANGUAGES[each].build is not ocaml:  # its compiler says the lines of few instructions
        case(f"{each}: executions of lines", each)(lines)
    if LANGUAGES[each].roots:
        case(f"{each}: call stacks are those that GDB unwinds", each)(stacks)


CALLERS = {
    "main.send": {"main.squares": 60, "main.cubes": 30}, "main.leaf": {"main.grows": 60, "main.yields": 40, "main.receive": 30},
    "main.(*walker).visit": {"main.main.func8": 3, "main.(*walker).visit": 102}, "main.grows": {"main.grows": 58, "main.main.func6": 1, "main.main.func7": 1},
    "main.yields": {"main.main.func4": 1, "main.main.func5": 1}, "main.squares": {"main.main.func11": 1, "main.main.func13": 1},
    "main.cubes": {"main.main.func12": 1}, "main.recovers": {"main.main.func9": 10}}


@case("goroutines: each is called by its own callers, on one thread", "1")
@case("goroutines: each is called by its own callers, on four threads", "4")
def goroutines(threads):
    path, bundle = built("goroutines", "-O1"), os.path.join(scratch(), f"goroutines-{threads}.ntrace")
    Run("run", "-q", "-o", bundle, "--", path, env=dict(os.environ, GOMAXPROCS=threads))
    for function, expected in CALLERS.items():
        rows = Run("profile", "--format", "jsonl", "--callers", function, bundle).rows()
        equal({row["function"]: row["calls"] for row in rows if row.get("relation") == "caller"}, expected, f"calls of {function}")
    for line in Run("flame", "--to", "folded", bundle).out.splitlines():
        frames = line.rsplit(" ", 1)[0].split(";")
        for caller, function in zip(frames, frames[1:]):
            check(function not in CALLERS or caller in CALLERS[function], f"{caller} does not call {function}: {line}")
    parts = [os.path.join(scratch(), f"goroutines-{threads}.{number}") for number in (1, 2, 3)]
    for number, part in enumerate(parts, 1):
        Run("profile", "--shard", f"{number}/3", "--partial", part, bundle)
    equal(Run("combine", "--redo", *parts, "profile", "--top", "10000").out, Run("profile", "--top", "10000", bundle).out, "sum of three parts")


@case("Go: functions that are preempted by signals are called as often as the source says")
def preempted():
    need("go"), need("qemu-riscv64")
    path = os.path.join(scratch(), "preempted")
    go("-O1", os.path.join(HERE, "preempted.go"), path)
    for _ in range(6):  # when the program is quick, no signal may come
        Run("run", "-q", "-o", path + ".ntrace", "--", path)
        rows = {row.get("function"): row["calls"] for row in Run("profile", "--format", "jsonl", path + ".ntrace").rows()}
        equal([rows["main." + name] for name in ("work", "middle", "leaf")], [1, 6000000, 12000000], "calls")
        if rows.get("runtime.asyncPreempt"):
            break
    check(rows.get("runtime.asyncPreempt"), "a signal has preempted")
    for row in Run("profile", "--format", "jsonl", "--callers", "main.work", path + ".ntrace").rows():
        equal(row["function"], "main.main", "caller of work")


main()
