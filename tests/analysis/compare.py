#!/usr/bin/env python3
"""compare: two builds of a program. The instructions of each function and line are those of QEMU's execution log, with the names that
`nm` and `addr2line` give to its addresses.

usage: compare.py NTRACE
"""
import collections
import functools
import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree

sys.path.append(os.path.join(sys.path[0], ".."))
sys.path.append(os.path.join(sys.path[0], "..", "programs"))
import qemu_log
import user_qemu
from harness import ROOT, Run, case, check, equal, main, matches, need, scratch, skip, write

START = """__attribute__((naked)) void _start(void) { __asm__("call main\\n li a0, 0\\n li a7, 93\\n ecall"); }
"""
ONE = """static __attribute__((noinline)) int helper(int n) {
    int s = 0;
    for (int i = 0; i < n; i++) s += i * n;
    return s;
}
int other(int n);
static inline int square(int x) { return x * x + 3; }
__attribute__((noinline)) int work(int n) {
    int t = 0;
    for (int i = 0; i < n; i++) t += square(i) ^ helper(i & 7);
    return t;
}
__attribute__((noinline)) int edited(int n) {
    int s = n;
    for (int i = 0; i < 9; i++) s ^= i * s;
    return s;
}
volatile int result;
int main(void) {
    for (int i = 0; i < 20; i++) result = result + work(i) + other(i) + edited(i);
    return 0;
}
"""
TWO = """static __attribute__((noinline)) int helper(int n) {
    int s = 1;
    for (int i = 0; i < n; i++) s ^= i + n;
    return s;
}
int other(int n) { return helper(n) + helper(n + 1); }
"""
# In B lines have moved, a function is not inlined any more, one has another line, and one calls more often.
CHANGED = {
    "one.c": ("/* A comment\n   of two lines. */\n" + ONE.replace("static inline int square", "static __attribute__((noinline)) int square")
              .replace("    return s;\n}\nvolatile", "    s += 5;\n    return s;\n}\nvolatile") + "int behind(int a) { return a; }\n"),
    "two.c": TWO.replace("helper(n) + helper(n + 1)", "helper(n) + helper(n + 2) + helper(3)"),
}
BUILDS = {"a": {"one.c": ONE, "two.c": TWO}, "b": CHANGED}
OWN = ("helper", "work", "edited", "main", "other", "square", "_start")


def path(*names):
    return os.path.join(scratch(), *names)


@functools.cache
def built(name):
    """Compiles a build and traces it. Returns the path of the program; its bundle is NAME.ntrace."""
    need("riscv64-linux-gnu-gcc", "qemu-riscv64")
    os.makedirs(path(name), exist_ok=True)
    for file, text in {"start.c": START, **BUILDS[name]}.items():
        write(os.path.join(name, file), text.encode())
    program = path(name, "prog")
    subprocess.run(["riscv64-linux-gnu-gcc", "-O1", "-g", "-static", "-nostdlib", "-o", "prog", "start.c", "one.c", "two.c"],
                   cwd=path(name), check=True)
    Run("run", "-o", path(name + ".ntrace"), "--", program)
    return program


def bundles():
    built("a"), built("b")
    return path("a.ntrace"), path("b.ntrace")


@functools.cache
def executed(name):
    """How often each address was executed, by QEMU's log of another run."""
    program, log = built(name), path(name + ".log")
    subprocess.run(["qemu-riscv64", *user_qemu.single_step(), "-d", "exec,nochain,in_asm,strace", "-D", log, program], check=True)
    return collections.Counter(pc for pcs in qemu_log.Log(log).harts.values() for pc in pcs)


@functools.cache
def places(name):
    """By address: (function of the symbol table, innermost function, file, line)."""
    program, found = built(name), {}
    addresses = sorted(executed(name))
    listed = subprocess.run(["riscv64-linux-gnu-nm", "-S", program], capture_output=True, text=True, check=True).stdout
    ranges = [(int(m[1], 16), int(m[1], 16) + int(m[2], 16), m[3]) for m in re.finditer(r"(?m)^(\w+) (\w+) [tT] (\S+)$", listed)]
    lines = subprocess.run(["riscv64-linux-gnu-addr2line", "-a", "-i", "-f", "-e", program], text=True, capture_output=True, check=True,
                           input="".join(f"{address:#x}\n" for address in addresses)).stdout
    for block in re.split(r"(?m)^0x", lines)[1:]:
        address, function, place, *_ = block.splitlines()
        file, line = re.match(r"(.*):(\d+|\?)", place).groups()
        symbol = next(s for low, high, s in ranges if low <= int(address, 16) < high)
        outer = block.splitlines()[-1].rsplit(":", 1)[0]
        found[int(address, 16)] = (symbol, function, os.path.basename(file), int(line), os.path.basename(outer))
    return found


def by(name, key):
    """Instructions by a key of the place."""
    total = collections.Counter()
    for address, count in executed(name).items():
        total[key(*places(name)[address])] += count
    return total


def compared(a, b, *options, status=0):
    return json.loads(Run("compare", a, b, "--format", "json", *options, status=status).out)


@functools.cache
def result():
    return compared(*bundles())


def sides(table, member):
    """{(name, file): count} of A and of B."""
    found = [collections.Counter(), collections.Counter()]
    for row in table["rows"]:
        for side, key in enumerate("ab"):
            if row[key]:
                found[side][row["name"], os.path.basename(row[key]["file"] or "")] += row[member][key]
    return [+counts for counts in found]


@case("the instructions in the code of each function are those of QEMU's log; static functions of one name stay apart")
def functions():
    found = sides(result()["functions"], "self")
    for side, name in enumerate("ab"):
        truth = by(name, lambda symbol, inner, file, line, outer: (symbol, outer))
        equal(found[side], truth, f"functions of {name}")
        equal(len([key for key in truth if key[0] == "helper"]), 2, "functions with the name helper")


@case("the instructions of each function's source, with inlined copies, are those of addr2line's innermost frames")
def written():
    found = sides(result()["functions"], "written")
    for side, name in enumerate("ab"):
        equal(found[side], by(name, lambda symbol, inner, file, line, outer: (inner, file)), f"sources of {name}")
    square = next(row for row in result()["functions"]["rows"] if row["name"] == "square")
    equal((square["match"], square["self"]["a"]), ("both", 0), "square, which is inlined in A alone")


@case("the instructions of each line are those of addr2line; the rows of every table add up")
def lines():
    lines = result()["lines"]
    for side, name in enumerate("ab"):
        found = collections.Counter()
        for row in lines["rows"]:
            if row[name]:
                found[row["function"], os.path.basename(row[name]["file"]), row[name]["line"]] += row["self"][name]
        equal(found, by(name, lambda symbol, inner, file, line, outer: (inner, file, line)), f"lines of {name}")
        for table, member in (("functions", "self"), ("functions", "written"), ("lines", "self"), ("paths", "self")):
            equal(sum(row[member][name] for row in result()[table]["rows"]), sum(executed(name).values()), f"{table} of {name}: {member}")
        equal(result()["instructions"][name], sum(executed(name).values()), "instructions")
    for top in (0, 1, 3):
        cut = compared(*bundles(), "--top", top)
        for table in ("functions", "lines", "paths"):
            sums = [sum(row["self"][key] for row in cut[table]["rows"]) + cut[table]["rest"]["self"][key] for key in "ab"]
            equal(sums, [result()["instructions"][key] for key in "ab"], f"{table} with --top {top}")


@case("lines that are paired have the same text in both builds; those of an edited function are not paired")
def pairs():
    paired = 0
    for row in result()["lines"]["rows"]:
        check((row["match"] == "unpaired") == (row["function"] == "edited"), f"{row}")
        if not (row["a"] and row["b"]):
            continue
        texts = [BUILDS[key].get(os.path.basename(row[key]["file"]), START).splitlines()[row[key]["line"] - 1] for key in "ab"]
        wanted = [re.sub(r"helper\(n \+ .*|inline|__attribute__\(\(noinline\)\)", "", text) for text in texts]
        equal(wanted[1], wanted[0], f"{row}")
        paired += 1
    check(paired >= 12, f"{paired} paired lines")


@case("call paths: calls and instructions of each stack; a function's total is that of its paths")
def paths():
    rows = {tuple(row["stack"]): row for row in result()["paths"]["rows"]}
    for name, calls in (("a", 40), ("b", 60)):
        equal(rows["_start", "main", "other", "helper"]["calls"][name], calls, f"calls of other's helper in {name}")
        helper = by(name, lambda symbol, inner, file, line, outer: (symbol, outer))["helper", "two.c"]
        equal(rows["_start", "main", "other", "helper"]["self"][name], helper, f"other's helper in {name}")
        work = next(row for row in result()["functions"]["rows"] if row["name"] == "work")
        below = sum(row["self"][name] for stack, row in rows.items() if stack[:3] == ("_start", "main", "work"))
        equal(work["total"][name], below, f"total of work in {name}")
    equal(rows["_start", "main", "work", "square"]["self"]["a"], 0, "a path of B alone")


@case("--fail-over: status 1 above the percentage, 0 up to it, and for fewer instructions")
def gate():
    a, b = bundles()
    first, second = (sum(executed(name).values()) for name in "ab")
    percent = 100 * (second - first) / first
    above, below = f"{percent + 0.001:.3f}%", f"{percent - 0.001:.3f}"
    Run("compare", a, b, "--fail-over", above)
    matches(rf"{first} to {second} instructions are \+{percent:.4g} %, --fail-over expects at most", Run(
        "compare", a, b, "--fail-over", below, status=1).err, "message")
    Run("compare", b, a, "--fail-over", "0%")
    Run("compare", a, a, "--fail-over", "0")
    equal(compared(a, b, "--fail-over", below, status=1)["gate"], {"fail_over": float(below), "passed": False}, "gate")
    for wrong in ("-1", "2%%", "x", "nan", "inf", "", "0x2", "1e999"):
        Run("compare", a, b, "--fail-over", wrong, status=2)


def broken(name, change):
    """A copy of the bundle of B, changed."""
    folder = path(name)
    shutil.copytree(bundles()[1], folder)
    change(folder)
    return folder


def damage(folder):
    file = os.path.join(folder, "trace.nex")
    stream = bytearray(open(file, "rb").read())
    at = len(stream) // 2
    stream[at:at + 12] = b"\xff\x7c" * 6
    write(file, bytes(stream))


def lose(folder):
    file = os.path.join(folder, "capture.json")
    capture = json.load(open(file, encoding="utf-8"))
    capture["losses"] = [{"position": 0, "what": "a buffer was full"}]
    write(file, json.dumps(capture).encode())


@case("a trace with damage never passes: status 1, and both outputs say it", "damaged", damage)
@case("a capture with losses never passes: status 1, and both outputs say it", "lossy", lose)
def doubt(name, change):
    a, wrong = bundles()[0], broken(name + ".ntrace", change)
    for order in ((a, wrong), (wrong, a)):
        run = Run("compare", *order, "--fail-over", "1000%", status=1)
        check("DOUBTFUL" in run.out and "FAILED" in run.out, run.out[:600])
        matches("--fail-over cannot pass", run.err, "message")
        Run("compare", *order, status=1)
        found = compared(*order, "--fail-over", "1000", status=1)
        equal((found["complete"], found["gate"]["passed"]), (False, False), "complete, passed")
        side = found["b" if order[1] == wrong else "a"]
        check(not side["complete"] and (side["gaps"] or side["losses"]), f"{side}")
    profile = path(name + ".jsonl")
    write(profile, Run("profile", wrong, "--format", "jsonl", status=None).bytes)
    if name == "damaged":
        Run("compare", a, profile, "--fail-over", "1000", status=1)


@case("partial answers: with counts and trees the same answer; with one of them, the other tables are said to be missing")
def partial():
    a, b = bundles()
    for name, trace in (("a", a), ("b", b)):
        Run("compare", "--partial", path(name + ".part"), trace)
    found = compared(path("a.part"), path("b.part"))
    equal({k: v for k, v in found.items() if k not in "ab"}, {k: v for k, v in result().items() if k not in "ab"}, "answer")
    Run("flame", "--partial", path("tree.part"), a)
    Run("coverage", "--partial", path("tally.part"), b)
    tree, tally = compared(path("tree.part"), b), compared(a, path("tally.part"))
    equal((tree["lines"], tally["paths"]), (None, None), "tables that one side does not have")
    equal(sides(tree["functions"], "self"), sides(result()["functions"], "self"), "functions")
    equal(sides(tally["functions"], "self"), sides(result()["functions"], "self"), "functions")
    equal(tally["lines"], result()["lines"], "lines")
    matches("not compared: lines", Run("compare", path("tree.part"), b).out, "remark")
    Run("compare", "--partial", path("x.part"), a, b, status=2)
    Run("compare", a, status=2)


@case("profiles: functions and lines; one that was cut, or is by something else, is refused")
def profiles():
    made = {}
    for name, bundle in zip("ab", bundles()):
        for unit in ("function", "line", "image"):
            made[name, unit] = path(f"{name}-{unit}.jsonl")
            write(made[name, unit], Run("profile", bundle, "--by", unit, "--format", "jsonl").bytes)
    found = compared(made["a", "function"], made["b", "function"])
    equal(sides(found["functions"], "self"), sides(result()["functions"], "self"), "functions")
    equal((found["lines"], found["paths"], found["a"]["kind"]), (None, None, "profile"), "what is not there")
    found = compared(made["a", "line"], bundles()[1])
    equal(found["lines"]["by_number"], True, "by_number")
    for side in "ab":
        equal(sum(row["self"][side] for row in found["lines"]["rows"]), sum(executed(side).values()), f"lines of {side}")
    cut = write("cut.jsonl", Run("profile", bundles()[0], "--top", 2, "--format", "jsonl").bytes)
    matches("without --top", Run("compare", cut, made["b", "function"], status=2).err, "message")
    matches("expected a row of", Run("compare", made["a", "image"], made["b", "function"], status=2).err, "message")
    write("torn.jsonl", open(made["a", "function"], "rb").read()[:-9])
    Run("compare", path("torn.jsonl"), made["b", "function"], status=2)


@case("raw streams, each with its own program: --elf-a, --elf-b")
def streams():
    made = [os.path.join(bundle, "trace.nex") for bundle in bundles()]
    options = ["--implicit-return", "full", "--return-stack", "32", "--sequential-jump", "--no-timestamps"]
    found = compared(*made, "--elf-a", built("a"), "--elf-b", built("b"), *options)
    equal(sides(found["functions"], "self"), sides(result()["functions"], "self"), "functions")


def small(name, text, *options):
    """The bundle of a program of one file."""
    need("riscv64-linux-gnu-gcc", "qemu-riscv64")
    program = path(name)
    subprocess.run(["riscv64-linux-gnu-gcc", "-O1", "-static", *options, "-o", program, write(name + ".c", text.encode())], check=True)
    Run("run", "-q", "-o", program + ".ntrace", "--", program)
    return program + ".ntrace"


@case("two different programs never pass, also with fewer instructions; without source files, two names do not; two names of one program do")
def different():
    first = "int work(int n) { int s = 0; for (int i = 0; i < n; i++) s += i ^ n; return s; }\nint main(int n, char **v) { return work(1000 + n) & 0; }\n"
    second = "#include <string.h>\nint other(const char *s) { return strlen(s); }\nint main(int n, char **v) { return other(v[0]) & 0; }\n"
    one, two = small("alpha", first, "-g"), small("beta", second, "-g")
    run = Run("compare", one, two, "--fail-over", "1000%", status=1)
    matches(r"^ntrace compare: A is alpha, B is beta: expected two builds of one program, no function of a source file is in both; --fail-over cannot pass$", run.err.strip(), "message")
    check("# DOUBTFUL: A and B are different programs\n# gate: at most +1000 %: FAILED\n" in run.out, run.out[:300])
    equal((compared(one, two, status=1)["programs"], compared(one, one)["programs"], result()["programs"]), ("different", "same", "same"), "programs")
    one, two = small("gamma", first), small("delta", second)
    matches(r"^ntrace compare: A is gamma, B is delta: not known whether they are builds of one program; --fail-over cannot pass; "
            r"compile with -g, or give the files one name$", Run("compare", one, two, "--fail-over", "1000%", status=1).err.strip(), "message")
    Run("compare", one, one, "--fail-over", "0")
    alike = []
    for text in first, second:
        folder = path(f"alike{len(alike)}")
        os.mkdir(folder)
        alike.append(small(os.path.basename(folder) + "/main", text.replace("int ", "__attribute__((noipa)) int ", 1), "-g"))
    matches("^ntrace compare: A and B: not known whether they are builds of one program: main is the only function of a source file that is in both; "
            "--fail-over cannot pass$", Run("compare", *alike, "--fail-over", "1000%", status=1).err.strip(), "one name, main.c")
    program = path("renamed")
    subprocess.run(["riscv64-linux-gnu-gcc", "-O2", "-g", "-static", "-o", program, path("alpha.c")], check=True)
    Run("run", "-q", "-o", program + ".ntrace", "--", program)
    equal(compared(path("alpha.ntrace"), program + ".ntrace")["programs"], "same", "two names")
    Run("compare", path("alpha.ntrace"), program + ".ntrace", "--fail-over", "1000%")


@case("the differential flame graph is well-formed, and each frame has both counts; Markdown tables have five columns")
def outputs():
    Run("compare", *bundles(), "--flame", path("changes.svg"), "--format", "markdown", "-o", path("changes.md"))
    tree = xml.etree.ElementTree.parse(path("changes.svg"))
    titles = [e.text for e in tree.iter("{http://www.w3.org/2000/svg}title")]
    for row in result()["paths"]["rows"]:
        a, b = row["total"]["a"], row["total"]["b"]
        check(any(t.startswith(f"{row['stack'][-1]}: {b - a:+d} instructions, {a} to {b}") for t in titles), f"{row}: {titles}")
    text = open(path("changes.md"), encoding="utf-8").read()
    equal({line.count("|") for line in text.splitlines() if line.startswith("|")}, {6}, "columns")
    matches(r"\| `square`", text, "row")


@case("the JSON follows its schema")
def schema():
    if subprocess.run(["/usr/bin/python3", "-c", "import jsonschema"], stderr=subprocess.DEVNULL, check=False).returncode:
        skip("python-jsonschema")
    write("compare.json", json.dumps(result()).encode())
    check_schema = ("import json, jsonschema, sys; jsonschema.Draft202012Validator(json.load(open(sys.argv[1]))).validate("
                    "json.load(open(sys.argv[2])))")
    done = subprocess.run(["/usr/bin/python3", "-c", check_schema, os.path.join(ROOT, "docs", "schemas", "compare.schema.json"),
                           path("compare.json")], capture_output=True, text=True, check=False)
    equal((done.returncode, done.stderr[-300:]), (0, ""), "validation")


main()
