#!/usr/bin/env python3
"""Interpreters and compilers at run time, of Debian 13 for riscv64: calls and call stacks. docs/languages.md has the table.

usage: interpreters.py NTRACE

A program of each language calls getppid as often as it says, from a recursive function. Below each instruction of the first thread is the
function that begins the program. Java's methods are called as often as Work.java says, by the methods that it says.
"""
import collections
import os
import re
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import ROOT, Run, case, check, equal, main, need, note, scratch, skip, write

HERE = os.path.dirname(os.path.abspath(__file__))
JVM = "usr/lib/jvm/java-21-openjdk-riscv64/bin/"
CALLS = 120

# packages, command, and a program that calls getppid CALLS times
Language = collections.namedtuple("Language", "packages command source")
LANGUAGES = {
    "Python": Language("python3.13", "usr/bin/python3.13 -S -E", """import os
def rec(n): return 0 if n == 0 else (os.getppid() > 0) + rec(n - 1)
print(sum(rec(20) for _ in range(6)))
"""),
    "Perl": Language("perl", "usr/bin/perl", """sub rec { my $n = shift; return $n ? (getppid() > 0) + rec($n - 1) : 0 }
my $sum = 0; $sum += rec(20) for 1 .. 6; print "$sum\\n";
"""),
    "Ruby": Language("ruby3.3 libruby3.3", "usr/bin/ruby3.3 --disable=gems", """def rec(n) = n == 0 ? 0 : (Process.ppid > 0 ? 1 : 0) + rec(n - 1)
puts 6.times.sum { rec(20) }
"""),
    "Guile": Language("guile-3.0 guile-3.0-libs", "usr/bin/guile-3.0 --no-auto-compile -s",
                      """(define (rec n) (if (= n 0) 0 (+ (if (> (getppid) 0) 1 0) (rec (- n 1)))))
(display (apply + (map (lambda (i) (rec 20)) '(1 2 3 4 5 6)))) (newline)
"""),
    "Node": Language("nodejs", "usr/bin/node --single-threaded --perf-basic-prof", """function rec(n) { return n === 0 ? 0 : (process.ppid > 0) + rec(n - 1); }
let sum = 0; for (let i = 0; i < 6; i++) sum += rec(20);
console.log(sum);
"""),
}
JAVA = "openjdk-21-jdk-headless"
# No code is made at other times than in the last run, and each method has code of its own.
OPTIONS = "-Xmx64m -XX:+UseSerialGC -Xbatch -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit -XX:CompileCommand=quiet " \
          "-XX:CompileCommand=dontinline,Work*::*"
CALLERS = {"main": set(), "attempt": {"main"}, "Round.area": {"main"}, "Square.area": {"main"}, "middle": {"attempt"}, "rec": {"middle", "rec"}}


def fetched(packages):
    """The folder with these packages of the cache."""
    need("qemu-riscv64")
    done = subprocess.run([os.path.join(ROOT, "tools/debian_root"), "--offline", *packages.split()], capture_output=True, text=True, check=False)
    return done.stdout.strip() if not done.returncode else skip("real-programs")


def traced(name, root, *command):
    bundle = os.path.join(scratch(), name + ".ntrace")
    run = Run("run", "-q", "--sysroot", root, "-o", bundle, "--", *command, cwd=scratch(), env=dict(os.environ, LC_ALL="C", HOME=scratch()))
    return bundle, run.out


def folded(bundle):
    """(frames, the outermost first; instructions)"""
    for line in Run("flame", "--to", "folded", bundle).out.splitlines():
        stack, _, count = line.rpartition(" ")
        yield stack.split(";"), int(count)


def is_first(function):
    """_start of the program, which may have no symbols; the dynamic linker; the first function of a thread."""
    return function == "_start" or re.match(r"(ld-linux-.*|guile|java|libc\.so\.6)\+0x", function) or function in ("__clone", "clone")


def first_functions(bundle, name):
    count, lost = 0, collections.Counter()
    for frames, instructions in folded(bundle):
        count += instructions
        lost[frames[0]] += 0 if is_first(frames[0]) else instructions
    note(f"{name}: {sum(lost.values())} of {count} instructions have lost their callers")
    check(sum(lost.values()) * 1000 < count, f"callers are lost below: {lost.most_common(3)}")


@case("Python: getppid is called as often as the program says; all frames are below _start", "Python")
@case("Perl: getppid is called as often as the program says; all frames are below _start", "Perl")
@case("Ruby: getppid is called as often as the program says; all frames are below _start", "Ruby")
@case("Guile: getppid is called as often as the program says; all frames are below _start", "Guile")
@case("Node: getppid is called as often as the program says; all frames are below _start", "Node")
def interpreter(name):
    language = LANGUAGES[name]
    root = fetched(language.packages)
    program, *words = language.command.split()
    bundle, out = traced(name, root, os.path.join(root, program), *words, write(name.lower() + ".js" if name == "Node" else name.lower(), language.source.encode()))
    equal(out.strip(), str(CALLS), "output")
    rows = Run("profile", "--top", "1000000", "--format", "jsonl", bundle).rows()
    equal(sum(row["calls"] for row in rows if row.get("function") in ("getppid", "__getppid")), CALLS, "calls of getppid")
    first_functions(bundle, name)


def java(name, *options):
    root = fetched(JAVA)
    classes = os.path.join(scratch(), "classes")
    if not os.path.isdir(classes):
        subprocess.run(["qemu-riscv64", "-L", root, os.path.join(root, JVM, "javac"), "-d", classes, os.path.join(HERE, "Work.java")], check=True)
    bundle, out = traced(name, root, os.path.join(root, JVM, "java"), *OPTIONS.split(), *options, "-cp", classes, "Work", "3000")
    equal(out.split()[-1], "61972", "output")
    return bundle


def method(function):
    found = re.match(r"(?:int|void) Work[.$]((?:Round\.|Square\.)?\w+)\(", function or "")
    return found[1] if found else None


@case("Java: methods that are compiled at their first call are called as often as the source says")
def compiled():
    bundle = java("compiled", "-Xcomp", "-XX:TieredStopAtLevel=1", "-XX:CompileCommand=compileonly,Work*::*")
    calls = {method(row.get("function")): row["calls"] for row in Run("profile", "--top", "1000000", "--format", "jsonl", bundle).rows()}
    expected = {"main": 1, "attempt": 3000, "middle": 2000, "rec": 32000, "Round.area": 1500}
    equal({name: calls.get(name) for name in expected}, expected, "calls")
    first_functions(bundle, "Java, compiled")


@case("Java: compiled methods are called by the interpreter, or by the methods that the source says")
def bridges():
    bundle = java("bridges")
    below = collections.Counter()
    for frames, instructions in folded(bundle):
        caller, seen = None, False
        for function in frames:
            name = method(function)
            if function == "Interpreter":
                caller, seen = None, True
            if name and (caller or not seen) and name != caller:  # a stub of a method is shown as called by it
                check(caller in CALLERS[name], f"{name} is called by {caller}: {frames}")
            caller = name or caller
            below[name] += instructions
    check(below["rec"] > 500000 and below["attempt"] > 500000, f"compiled methods were executed: {below}")
    by = {function: {row["function"]: row["calls"] for row in Run("profile", "--format", "jsonl", "--callers", function, bundle).rows() if row.get("relation")}
          for function in ("int Work.rec(int)", "int Work.middle(int)")}
    of_middle = sum(by["int Work.middle(int)"].values())
    check(1000 < of_middle <= 2000, f"calls of middle: {by}")
    equal(by["int Work.rec(int)"]["int Work.middle(int)"], 2 * of_middle, "calls of rec by middle")
    first_functions(bundle, "Java")


main()
