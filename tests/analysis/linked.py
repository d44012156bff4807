#!/usr/bin/env python3
"""Coverage of programs as linkers leave their debug information, compared with gcov's of the same sources.

usage: linked.py NTRACE [every]

A daily run has a sample of the builds; "every" has all (make soak).

Copies of inline functions that were discarded or shared, removed sections, type units, split DWARF, link-time optimization,
shared libraries, folded functions, and compilers and linkers that write all this in other ways.
"""
import json
import os
import re
import shutil
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
import dwarf_packer
import gcov_truth as truth
import harness
from harness import NTRACE, case, check, equal, folder, need, note

HERE = os.path.dirname(os.path.abspath(__file__))
GXX, GCC = "riscv64-linux-gnu-g++", "riscv64-linux-gnu-gcc"
CLANG = ("clang++-19", "--target=riscv64-linux-gnu", "-fuse-ld=lld-19")
OLD_CLANG = ("clang++-14", "--target=riscv64-linux-gnu", "-fPIC")
LIBRARY_PATH = {**os.environ, "QEMU_LD_PREFIX": "/usr/riscv64-linux-gnu"}


def sources(name):
    place = folder()
    for file in os.listdir(os.path.join(HERE, "linked", name)):
        shutil.copy(os.path.join(HERE, "linked", name, file), place)
    return place


def units(place):
    return sorted((name for name in os.listdir(place) if name.endswith((".c", ".cc"))), key=lambda name: ("main" in name, name))


def counted(name, order, extra=("-O0",)):
    """gcov's counts of the program."""
    place = sources(name)
    compiler = GXX if any(unit.endswith(".cc") for unit in order) else GCC
    truth.run(need(compiler), "-g", *extra, "--coverage", "-static", *order, "-o", "counted", cwd=place)
    truth.run("qemu-riscv64", "./counted", cwd=place)
    return truth.gcov(place)


def traced(name, order, compiler, options, place=None, **more):
    place = place or sources(name)
    need(compiler[0])
    if compiler == OLD_CLANG:  # does not find the libraries of the cross compiler
        truth.run(*compiler, "-g", *options, "-c", *order, cwd=place)
        objects = [os.path.splitext(unit)[0] + ".o" for unit in order]
        truth.run(GXX, *[option for option in options if option.startswith(("-Wl", "-static"))], *objects, "-o", "plain", cwd=place)
    else:
        truth.run(*compiler, "-g", *options, *order, "-o", "plain", cwd=place)
    truth.run(NTRACE, "run", "-q", "-o", "plain.ntrace", "--", "./plain", cwd=place, env=LIBRARY_PATH)
    files = set(os.listdir(os.path.join(HERE, "linked", name)))
    return truth.traced(NTRACE, "plain.ntrace", place, files=files, **more), place


def differences(ours, theirs, place):
    """Complaints about lines. gcc gives the parts of a `for` on one line as several blocks, which clang counts alike."""
    compared, counts, _, alone = truth.compare(truth.texts_below(place), ours, theirs)
    return compared, [f"{key[0]}:{key[1]}: {a}, gcov {b}" for key, a, b in counts + alone]


def same(name, compiler, *options, only_executed=False):
    order = units(os.path.join(HERE, "linked", name))
    theirs = counted(name, order, ("-O0", *[option for option in options if option.startswith("-std")]))
    ours, place = traced(name, order, compiler, options)
    if only_executed:  # clang has other rules of counts
        theirs.lines = {key: min(count, 1) for key, count in theirs.lines.items() if key in ours.lines}
        ours.lines = {key: min(count, 1) for key, count in ours.lines.items() if key in theirs.lines}
    for key in set(theirs.lines) - set(ours.lines):  # of functions that the linker has removed
        if not theirs.lines[key] and any("gc-sections" in option for option in options):
            del theirs.lines[key]
    compared, complaints = differences(ours, theirs, place)
    check(not complaints and compared >= 6, "\n".join(complaints))
    functions = {key: count for key, count in ours.functions.items() if key in theirs.functions}
    equal(functions, {key: count for key, count in theirs.functions.items() if key in functions}, "functions")
    check(len(functions) >= min(5, len(theirs.functions) - 1), f"functions {sorted(functions)}, gcov {sorted(theirs.functions)}")
    note(f"{compared} lines, {len(functions)} functions")


BUILDS = [
    ("copies", (GXX,), "-O0 -static"), ("copies", (GXX,), "-O0"), ("copies", (GXX,), "-O0 -static -gdwarf-4"),
    ("copies", (GXX,), "-O0 -ffunction-sections -Wl,--gc-sections"), ("copies", (GXX,), "-O0 -flto"),
    ("header", (GXX,), "-O0"), ("header", (GXX,), "-O0 -static -fdebug-types-section"),
    ("header", (GXX,), "-O0 -static -fdebug-types-section -gdwarf-4"), ("header", (GXX,), "-O0 -static -gsplit-dwarf"),
    ("header", (GXX,), "-O0 -gsplit-dwarf -gdwarf-4"), ("header", (GXX,), "-O0 -gz"), ("header", (GXX,), "-O0 -gz -Wl,--compress-debug-sections=zlib-gnu"), ("header", (GXX,), "-O0 -mno-relax"),
    ("rows", (GXX,), "-O0"), ("rows", (GXX,), "-O0 -static -mno-relax -ffunction-sections -Wl,--gc-sections"),
    ("names", (GXX,), "-O0 -std=c++17"), ("names", (GXX,), "-O0 -std=c++17 -static -gdwarf-4"),
    ("removed", (GCC,), "-O0 -ffunction-sections -Wl,--gc-sections"), ("removed", (GCC,), "-O0 -static -ffunction-sections -Wl,--gc-sections -mno-relax"),
]
EVERY = "every" in sys.argv[2:]
SAMPLE = {("copies", "-O0 -static"), ("header", "-O0 -static -gsplit-dwarf"), ("names", "-O0 -std=c++17")}
for each_name, each_compiler, each_options in BUILDS:
    if not EVERY and (each_name, each_options) not in SAMPLE:
        continue
    case(f"{each_name} {each_compiler[0]} {each_options}: lines and functions as gcov counts them", each_name, each_compiler,
         *each_options.split())(same)
for each_compiler in (CLANG, OLD_CLANG) if EVERY else ():
    for each_options in ("-O0", "-O0 -static -gdwarf-4", "-O0 -ffunction-sections -Wl,--gc-sections", "-O0 -fdebug-types-section"):
        case(f"copies {each_compiler[0]} {each_options}: lines were executed as gcov says", "copies", each_compiler,
             *each_options.split())(lambda *arguments: same(*arguments, only_executed=True))

@case("removed -O1 --gc-sections: a function that the linker has removed has no lines and no branches")
def removed_lines():
    ours, place = traced("removed", ["gc.c"], (GCC,), ("-O1", "-ffunction-sections", "-Wl,--gc-sections"))
    with open(os.path.join(place, "gc.c"), encoding="utf-8") as file:
        first = next(number for number, line in enumerate(file, 1) if line.startswith("int used"))
    check(len(ours.lines) >= 5 and min(number for _, number in ours.lines) >= first, str(ours.lines))


@case("parts -O2: what gcc splits off a function is no other entry of it")
def split_functions():
    order = units(os.path.join(HERE, "linked", "parts"))
    theirs, (ours, place) = counted("parts", order, ("-O2",)), traced("parts", order, (GCC,), ("-O2", "-static"))
    check("check.part.0" in truth.run("riscv64-linux-gnu-nm", "plain", cwd=place).decode(), "gcc has split no function")
    for name, count in (("check", 27), ("add", 3)):
        equal(theirs.functions[name], count, f"{name} in gcov")
        equal(ours.functions[name], count, name)


@case("names -O2: inlined functions of one name have names that tell them apart, and lcov counts them all")
def inlined_names():
    place = folder()
    shutil.copy(os.path.join(HERE, "linked", "inlined_names.cc"), place)
    truth.run(GXX, "-O2", "-g", "-std=c++17", "inlined_names.cc", "-o", "plain", cwd=place)
    truth.run(NTRACE, "run", "-q", "-o", "plain.ntrace", "--", "./plain", cwd=place, env=LIBRARY_PATH)
    info = truth.run(NTRACE, "coverage", "--to", "lcov", "--only", "inlined_names.cc", "plain.ntrace", cwd=place).decode()
    names = re.findall(r"^FN:\d+,(.*)$", info, re.M)
    equal(len(set(names)), len(names), f"names {names}")
    for part in ("A::get", "B::get", "main::{lambda(9:21)}::operator()"):
        check(any(part in name for name in names), f"no {part} in {names}")


def two_builds(before, after):
    """A program with functions f and g, and the same with lines before f and in g; a trace of each."""
    place = folder()
    text = "%sint f(int x) {\n    if (x)\n        return 1;\n    return 2;\n}\nint g(int x) {\n    int y = x;\n%s    return y;\n}\nint main(void) { return f(1) + f(0) + g(1) == 0; }\n"
    for name, parts in (("one", ("", "")), ("two", (before, after))):
        with open(os.path.join(place, "m.c"), "w", encoding="utf-8") as file:
            file.write(text % parts)
        truth.run(GCC, "-g", "-O0", "-static", "m.c", "-o", "m", cwd=place)
        truth.run(NTRACE, "run", "-q", "-o", name + ".ntrace", "--", "./m", cwd=place, status=())
    return place


@case("traces of two builds are not added: lines of the sources have moved")
def moved_sources():
    place = two_builds("// a new line\n", "")
    done = subprocess.run([NTRACE, "coverage", "one.ntrace", "two.ntrace"], cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    equal(done.returncode, 2, "status")
    check(b"two.ntrace" in done.stderr and b"f is on line 2, and on line 1" in done.stderr and not done.stdout, done.stderr.decode())
    one = truth.traced(NTRACE, "one.ntrace", place)
    both = truth.traced(NTRACE, "two.ntrace", place, "--merge-builds", "one.ntrace")
    equal(both.lines, {key: 2 * count for key, count in one.lines.items()}, "lines of two runs")
    equal(both.branches, {key: [2 * count for count in counts] for key, counts in one.branches.items()}, "branches of two runs")
    equal(both.functions, {key: 2 * count for key, count in one.functions.items()}, "functions of two runs")


@case("--merge-builds: a function that has changed is counted in the first build only, and both builds are named")
def changed_function():
    place = two_builds("", "    y += 2;\n    y -= 1;\n")
    done = subprocess.run([NTRACE, "coverage", "--merge-builds", "one.ntrace", "two.ntrace"], cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    equal(done.returncode, 0, "status")
    check(b"1 have other lines of code" in done.stderr and b"1 functions have moved" in done.stderr, done.stderr.decode())
    both = truth.traced(NTRACE, "two.ntrace", place, "--merge-builds", "one.ntrace")
    equal((both.functions["f"], both.functions["g"], both.functions["main"], both.lines["m.c", 7]), (4, 1, 2, 1), "counts")


@case("a program whose last function has changed is another build: its build id is named, and with a source that is newer than the first build the status is 1")
def changed_last_function():
    place = folder()
    for name, more in (("one", ""), ("two", "    y += 2;\n")):
        with open(os.path.join(place, "m.c"), "w", encoding="utf-8") as file:
            file.write("int main(void) {\n    int y = 1;\n%s    if (y > 2)\n        y--;\n    return y != %d;\n}\n" % (more, 2 if more else 1))
        truth.run(GCC, "-g", "-O0", "-static", "m.c", "-o", "m", cwd=place)
        truth.run(NTRACE, "run", "-q", "-o", name + ".ntrace", "--", "./m", cwd=place)
    build_id, = re.findall(rb"Build ID: (\w+)", truth.run("readelf", "-n", os.path.join("one.ntrace", "images", os.listdir(os.path.join(place, "one.ntrace", "images"))[0]), cwd=place))
    for newer in (False, True):
        os.utime(os.path.join(place, "m.c"), (1000000000, 1000000000) if not newer else None)
        done = subprocess.run([NTRACE, "coverage", "one.ntrace", "two.ntrace"], cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        equal(done.returncode, int(newer), f"status ({done.stderr})")
        check(b"1 traces are of another build of m than the first one (build id " + build_id + b")" in done.stderr
              and (b"found functions with other lines of code and sources that are newer" in done.stderr) == newer, done.stderr.decode())


def other_builds(change, *options):
    """The library changes; or the program, which has no build id."""
    place = folder()
    for build in ("one", "two"):
        os.mkdir(os.path.join(place, build))
        with open(os.path.join(place, "l.c"), "w", encoding="utf-8") as file:
            file.write(f"int l(int n) {{\n    return n * {len(build) if build == 'one' else 7};\n}}\n")
        with open(os.path.join(place, "m.c"), "w", encoding="utf-8") as file:
            file.write("int l(int);\nint main(int n, char **a) {\n    (void)a;\n    return l(n) == 77;\n}\n")
        if change == "libl.so":
            truth.run(GCC, "-g", "-shared", "-fPIC", "l.c", "-o", build + "/libl.so", cwd=place)
        truth.run(GCC, "-g", "m.c", *(["-L" + build, "-ll", "-Wl,-rpath,$ORIGIN"] if change == "libl.so" else ["l.c"]), *options, "-o", build + "/m", cwd=place)
        truth.run(NTRACE, "run", "-q", "-o", build + ".ntrace", "--", build + "/m", cwd=place, env=LIBRARY_PATH)
    said = [subprocess.run([NTRACE, "coverage", "one.ntrace", *others], cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=True).stderr
            for others in (("two.ntrace", "two.ntrace"), ("one.ntrace",))]
    found = re.findall(r"(\d) traces are of another build of (\S+) than the first one \((build id|SHA-256) ([0-9a-f]+)\)", said[0])
    if change == "libl.so":
        identifier = re.search(r"Build ID: (\w+)", truth.run("riscv64-linux-gnu-readelf", "-n", "one/libl.so", cwd=place).decode())[1]
    else:
        identifier = truth.run("sha256sum", "one/m", cwd=place).decode().split()[0]
    equal(found, [("2", change, "build id" if change == "libl.so" else "SHA-256", identifier)], said[0])
    check("another build" not in said[1], said[1])


if EVERY:
    case("a library of another build is named, with its build id")(lambda: other_builds("libl.so"))
    case("a program of another build without a build id is named, with its SHA-256")(lambda: other_builds("m", "-Wl,--build-id=none", "-static"))


def answer(place, bundle, *options, status=0):
    done = subprocess.run([NTRACE, "coverage", "--to", "json", *options, bundle], cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, env=LIBRARY_PATH)
    equal(done.returncode, status, f"status ({done.stderr})")
    return done


def debug_files(place, bundle, *names):
    """The files of debug information in the evidence, and what sha256sum says of those that are expected."""
    truth.run(NTRACE, "coverage", "--evidence", "evidence", "--only", "m.c", bundle, cwd=place, env=LIBRARY_PATH)
    with open(os.path.join(place, "evidence", "evidence.json"), encoding="utf-8") as file:
        found = sorted((os.path.basename(entry["name"]), entry["sha256"]) for entry in json.load(file)["files"] if entry["kind"] == "debug")
    return found, sorted((name, truth.run("sha256sum", name, cwd=place).decode().split()[0]) for name in names)


@case("split DWARF without its .dwo files: each is named, the status is 1, and the lines are those with the files; with a package (.dwp) all is as before")
def split_files_gone():
    place = folder()
    with open(os.path.join(place, "m.c"), "w", encoding="utf-8") as file:
        file.write("int main(int n, char **a) {\n    (void)a;\n    if (n > 1)\n        return 1;\n    return 0;\n}\n")
    truth.run(GCC, "-g", "-gsplit-dwarf", "-O0", "-static", "m.c", "-o", "m", cwd=place)
    truth.run(NTRACE, "run", "-q", "-o", "m.ntrace", "--", "./m", cwd=place)
    whole = answer(place, "m.ntrace", "--only", "./m.c")  # of the current folder
    split, = (name for name in os.listdir(place) if name.endswith(".dwo"))
    dwarf_packer.pack([os.path.join(place, split)], os.path.join(place, "packed"))
    os.remove(os.path.join(place, split))
    done = answer(place, "m.ntrace", "--only", "m.c", status=1)
    check(split in done.stderr and "or in a package (.dwp)" in done.stderr, done.stderr)
    found, expected = json.loads(done.stdout)["files"][0], json.loads(whole.stdout)["files"][0]
    check(expected["functions"] and not found["functions"], "functions")
    equal([(line["line"], line["count"]) for line in found["lines"]], [(line["line"], line["count"]) for line in expected["lines"]], "lines")
    os.rename(os.path.join(place, "packed"), os.path.join(place, "m.dwp"))
    equal(answer(place, "m.ntrace", "--only", "m.c").stdout, whole.stdout, "coverage with a package")
    equal(*debug_files(place, "m.ntrace", "m.dwp"), "digests of the evidence")


def debug_files_of_evidence():
    """A .dwo file, a separate debug file, and one that dwz has made of two programs."""
    place = folder()
    with open(os.path.join(place, "m.c"), "w", encoding="utf-8") as file:
        file.write("#include <stdio.h>\n#include <stdlib.h>\nint main(void) {\n    return stdin == NULL;\n}\n")
    for kind in ("m.dwo", "m.debug", "shared.dbg"):
        truth.run(GCC, "-g", "-O0", "-static", "-mno-relax", *(["-gsplit-dwarf"] if kind == "m.dwo" else []), "m.c", "-o", "m", cwd=place)
        if kind == "m.debug":
            truth.run("riscv64-linux-gnu-objcopy", "--only-keep-debug", "m", "m.debug", cwd=place)
            truth.run("riscv64-linux-gnu-objcopy", "--strip-all", "--add-gnu-debuglink=m.debug", "m", cwd=place)
        elif kind == "shared.dbg":
            shutil.copy(os.path.join(place, "m"), os.path.join(place, "other"))
            truth.run(need("dwz"), "-m", "shared.dbg", "m", "other", cwd=place)
        truth.run(NTRACE, "run", "-q", "-o", "m.ntrace", "--", "./m", cwd=place)
        equal(*debug_files(place, "m.ntrace", kind), kind)


if EVERY:
    case("evidence has the digests of .dwo files, separate debug files and files of dwz")(debug_files_of_evidence)


def packed(name, packer, *options):
    """All that coverage says, with .dwo files and with a package; lines and functions also as gcov counts them."""
    if "-O0" in options:
        same(name, (GXX,), *options)
    _, place = traced(name, units(os.path.join(HERE, "linked", name)), (GXX,), options)
    with_files = [answer(place, "plain.ntrace").stdout, truth.run(NTRACE, "coverage", "--level", "mcdc", "plain.ntrace", cwd=place, env=LIBRARY_PATH)]
    split = [os.path.join(place, file) for file in os.listdir(place) if file.endswith(".dwo")]
    if packer == "dwarf_packer":
        dwarf_packer.pack(split, os.path.join(place, "plain.dwp"))
    else:
        truth.run(need(packer), *split, "-o", "plain.dwp", cwd=place)
    for file in split:
        os.remove(file)
    equal([answer(place, "plain.ntrace").stdout, truth.run(NTRACE, "coverage", "--level", "mcdc", "plain.ntrace", cwd=place, env=LIBRARY_PATH)], with_files, "coverage")
    check(len(json.loads(with_files[0])["files"]) > 1 or name != "header", "files")


for each_name, each_packer, each_options in ([
        ("header", "dwp", "-O0 -gdwarf-4 -mno-relax"), ("header", "llvm-dwp-19", "-O0 -gdwarf-4 -static -mno-relax"), ("header", "dwarf_packer", "-O0 -mno-relax"),
        ("header", "dwarf_packer", "-O0 -static"), ("header", "dwp", "-O0 -gdwarf-4 -fdebug-types-section"), ("header", "dwp", "-O0 -gdwarf-4 -gz -mno-relax"),
        ("copies", "dwp", "-O2 -gdwarf-4 -mno-relax"), ("copies", "dwarf_packer", "-O2 -mno-relax"), ("names", "dwp", "-O2 -gdwarf-4 -std=c++17"),
        ("names", "dwarf_packer", "-O0 -std=c++17"), ("header", "llvm-dwp-19", "-O2 -fPIC -mno-relax")] if EVERY else []):
    case(f"{each_name} -gsplit-dwarf {each_options}: a package of {each_packer} says what the .dwo files say", each_name, each_packer, "-gsplit-dwarf", *each_options.split())(packed)


INSTANCES = """template <class T> __attribute__((noinline)) T scale(T n)
{
    return n * 3;
}
struct made { int n; explicit made(int x); };
made::made(int x)
    : n(x) {}
int main(int argc, char **)
{
    made m(argc);
    return (int)(scale((long)m.n) + scale((unsigned long)m.n)) == 77;
}
"""


def folded_instances(*build):
    """Instances of one template: one is left. Its line has the sum of both, as gcov's; the constructor's two names are one function."""
    place = folder()
    with open(os.path.join(place, "m.cc"), "w", encoding="utf-8") as file:
        file.write(INSTANCES)
    for folding in ("all", "none"):
        truth.run(*build, "-g", "-O0", "-ffunction-sections", "-static", "-Wl,--icf=" + folding, "m.cc", "-o", "m", cwd=place)
        truth.run(NTRACE, "run", "-q", "-o", "m.ntrace", "--", "./m", cwd=place)
        done = answer(place, "m.ntrace", "--only", "m.cc")
        found, = json.loads(done.stdout)["files"]
        equal({line["line"]: line["count"] for line in found["lines"]}[3], 2, "line of both")
        equal(sum(function["line"] == 1 for function in found["functions"]), 1 if folding == "all" else 2, "functions")
        equal(re.findall(r"instances of templates that have the code of another instance and are not listed: (\d)", done.stderr), ["1"] if folding == "all" else [], done.stderr)


if EVERY:
    case("identical code folding of instances of one template: that one is not listed is said, and lines have the counts of both")(
        lambda: folded_instances(need(CLANG[0]), *CLANG[1:], "-mno-relax"))


EQUAL = """struct one { int n; one(int x) : n(x) {} int get() const; };
int one::get() const { return n * 2; }
static int __attribute__((noinline)) twice(int n) { return n * 5; }
int __attribute__((noinline)) folded(int n) { return n * 5; }
int __attribute__((noinline)) other(int n) { return n * 3; }
int main(int argc, char **argv) {
    (void)argv;
    if (argc > 1) return twice(argc) + other(argc);
    if (argc > 2) return folded(argc) + one(argc).get();
    return 0;
}
"""


@case("identical code folding: two functions at one address are said to be one; with executions the status is 1; without folding nothing is said")
def folded_code():
    place = folder()
    need(CLANG[0], "ld.lld-19")
    with open(os.path.join(place, "m.cc"), "w", encoding="utf-8") as file:
        file.write(EQUAL)
    build = (*CLANG, "-mno-relax", "-g", "-O1", "-ffunction-sections", "-static", "m.cc", "-o", "m")
    for folding, arguments, status in (("all", ["x"], 1), ("all", [], 0), ("none", ["x"], 0)):
        if arguments:  # else the program is that of the run before
            truth.run(*build, "-Wl,--icf=" + folding, cwd=place)
        symbols = truth.run("riscv64-linux-gnu-nm", "-C", "m", cwd=place).decode()
        places = [re.search(r"(\w+) \w %s\(int\)" % name, symbols)[1] for name in ("twice", "folded")]
        equal(places[0] == places[1], folding == "all", "addresses of nm")
        truth.run(NTRACE, "run", "-q", "-o", "m.ntrace", "--", "./m", *arguments, cwd=place, status=())
        done = subprocess.run([NTRACE, "coverage", "--only", "m.cc", "m.ntrace"], cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        equal(done.returncode, status, f"status ({done.stderr})")
        said = re.search(r"not listed for this reason: 1, with executions: (\d), the first (.*) \(\S*m\.cc:([34])\), counted as (.*) \(\S*m\.cc:([34])\)", done.stderr)
        equal(bool(said), folding == "all", done.stderr)
        if said:
            equal(({said[2].split("(")[0], said[4].split("(")[0]}, {said[3], said[5]}, said[1]), ({"twice", "folded"}, {"3", "4"}, str(status)), "what is one")


@case("gcc's own folding (-fipa-icf): a static function whose symbol is at an equal one is named, in C++", "g++", "cc")
def folded_by_gcc(compiler, suffix):
    place = folder()
    equal_code = "__attribute__((noinline)) int %s(int n)\n{\n    int s = 0;\n    for (int i = 0; i < n; i++)\n        s += i * 3;\n    return s;\n}\n"
    with open(os.path.join(place, "m." + suffix), "w", encoding="utf-8") as file:
        file.write("#include <stdlib.h>\n" + "static " + equal_code % "kept" + "static " + equal_code % "folded" +
                   "int main(int argc, char **argv) {\n    return (argc > 1 ? kept(argc) : 0) + (argc > 2 ? folded(argc) : 0) == 77;\n}\n")
    for option, arguments, status in (("-fipa-icf", ["x"], 1), ("-fipa-icf", [], 0), ("-fno-ipa-icf", ["x"], 0)):
        if arguments:
            truth.run("riscv64-linux-gnu-" + compiler, "-g", "-O2", "-static", option, "m." + suffix, "-o", "m", cwd=place)
        symbols = truth.run("riscv64-linux-gnu-nm", "-C", "m", cwd=place).decode()
        places = [re.search(r"(\w+) t %s(\(int\))?$" % name, symbols, re.M)[1] for name in ("kept", "folded")]
        equal(places[0] == places[1], option == "-fipa-icf", "addresses of nm")
        truth.run(NTRACE, "run", "-q", "-o", "m.ntrace", "--", "./m", *arguments, cwd=place, status=())
        done = subprocess.run([NTRACE, "coverage", "--only", "m." + suffix, "m.ntrace"], cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        equal(done.returncode, status, f"status ({done.stderr})")
        said = re.search(r"with executions: (\d), the first (\w+)\S* \(\S*m\.cc?:(\d+)\), counted as (\w+)", done.stderr)
        equal(bool(said), option == "-fipa-icf", done.stderr)
        if said:
            equal(({said[2], said[4]}, said[1]), ({"kept", "folded"}, str(status)), "what is one")


if EVERY:
    case("gcc's own folding (-fipa-icf): a static function whose symbol is at an equal one is named, in C", "gcc", "c")(folded_by_gcc)
harness.main("riscv64-linux-gnu-g++", "riscv64-linux-gnu-gcov", "qemu-riscv64")
