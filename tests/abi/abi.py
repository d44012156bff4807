#!/usr/bin/env python3
"""The binary interface: programs compiled against earlier headers run with this library.

Arguments: libntrace.so, libntrace-tools.so, the C compiler.
"""
import difflib
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(sys.path[0], ".."))
import symbols
from harness import ROOT, case, check, equal, main, need, skip

HERE = os.path.dirname(os.path.abspath(__file__))
LIBRARY, TOOLS, COMPILER = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3:]
CONFIGS = ("ntr_decoder_config", "ntr_encoder_config")
STUB = """
#include <ntrace/decoder.h>
NTR_API ntr_status ntr_decoder_new(const ntr_decoder_config *config, ntr_decoder **out) {
    return config && out ? NTR_OK : NTR_E_INVALID;
}
#ifndef REMOVED
NTR_API void ntr_decoder_free(ntr_decoder *decoder) { (void)decoder; }
#endif
"""


def run(*command, env=None):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=dict(os.environ, **(env or {})))


def headers(folder, change):
    """A copy of the public headers, with `change` applied to the body of each config struct. Returns its include folder."""
    include = os.path.join(folder, "include")
    shutil.copytree(os.path.join(ROOT, "include"), include)
    version = os.path.join(os.path.dirname(LIBRARY), "include/ntrace/version.h")
    shutil.copy(version, os.path.join(include, "ntrace"))
    changed = 0
    for name in os.listdir(os.path.join(include, "ntrace")):
        path = os.path.join(include, "ntrace", name)
        text = open(path, encoding="utf-8").read()
        for config in CONFIGS:
            pattern = re.compile(rf"(typedef struct {config} \{{\n)(.*?)(\}} {config};)", re.S)
            text, count = pattern.subn(lambda m: m.group(1) + change(m.group(2)) + m.group(3), text)
            changed += count
        open(path, "w", encoding="utf-8").write(text)
    assert changed == len(CONFIGS), f"{changed} configs found"
    return include


def without_last(body):
    lines = body.rstrip("\n").split("\n")
    while not re.match(r"    [a-z].*;", lines[-1]):
        lines.pop()
    return "\n".join(lines[:-1]) + "\n"


def with_one_more(body):
    return body + "    uint64_t future;\n"


def with_one_inside(body):
    first, rest = body.split("\n", 1)
    return f"{first}\n    uint64_t inserted;\n{rest}"


def same(body):
    return body


def output_of(change):
    """What the test program prints when it is compiled against such headers."""
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "program")
        done = run(*COMPILER, "-Wall", "-Werror", "-I", headers(folder, change), "-o", program, os.path.join(HERE, "program.c"), LIBRARY)
        if done.returncode:
            return f"does not compile: {done.stdout}"
        done = run(program, env={"LD_LIBRARY_PATH": os.path.dirname(LIBRARY)})
        return f"{done.returncode}\n{done.stdout}"


def compared(change, *flags):
    """Whether abidiff reports changed headers of a library as compatible."""
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "stub.c")
        open(source, "w").write(STUB)
        libraries = []
        for name, how, extra in (("old", same, ()), ("new", change, flags)):
            os.mkdir(os.path.join(folder, name))
            include = headers(os.path.join(folder, name), how)
            libraries.append(os.path.join(folder, name, "libstub.so"))
            run(*COMPILER, "-g", "-shared", "-fPIC", "-I", include, *extra, "-o", libraries[-1], source)
        return compatible(*libraries)


def compatible(old, new):
    done = run(need("abidiff"), "--no-added-syms", "--suppressions", os.path.join(HERE, "compatible.suppr"), old, new)
    check(done.returncode in (0, 4, 8, 12), done.stdout)  # 4 and 8: changed, changed incompatibly
    return done.returncode == 0, done.stdout


def has_types(library):
    return ".debug_info" in run("readelf", "-S", "-W", library).stdout


@case("a program with today's headers runs")
def today():
    check(output_of(same).startswith("0\n"), output_of(same))


@case("a program compiled against headers in which configs are shorter does the same", without_last)
@case("a program compiled against headers in which configs are longer does the same", with_one_more)
def other_headers(change):
    equal(output_of(change), output_of(same), "output")


@case("a config that grows at its end is compatible", True, with_one_more)
@case("a member in the middle of a config is reported", False, with_one_inside)
@case("a function that is missing is reported", False, same, "-DREMOVED")
def growth(expected, change, *flags):
    good, text = compared(change, *flags)
    check(good == expected, text)


@case("the exported functions of libntrace, and their signatures, are those of symbols.txt", LIBRARY)
@case("the exported functions of libntrace-tools, and their signatures, are those of symbols.txt", TOOLS)
def listed(library):
    name = os.path.basename(library).split(".so")[0]
    with open(os.path.join(HERE, "symbols.txt"), encoding="utf-8") as file:
        wanted = [line for line in file.read().splitlines() if line.split(":")[0].split()[0] == name]
    found = symbols.lines(name, library, symbols.signatures())
    check(len(wanted) > 200, f"symbols.txt has {len(wanted)} lines of {name}")
    differences = [line for line in difflib.unified_diff(wanted, found, lineterm="", n=0) if line[:3] not in ("---", "+++")]
    check(not differences, "\n".join(differences[:20] + ["if this is intended: tests/abi/symbols.py BUILD > tests/abi/symbols.txt"]))


@case("each released version: the library is compatible with its baseline")
def released():
    for baseline in sorted(glob.glob(os.path.join(HERE, "baselines", "*", "*.abi"))):
        library = {"libntrace": LIBRARY, "libntrace-tools": TOOLS}[os.path.basename(baseline)[:-len(".abi")]]
        if not has_types(library):
            skip("build-debug")
        good, text = compatible(baseline, library)
        check(good, f"{baseline}: {text}")
    check(True, "before the first release there is none")


@case("a signature of a header is read in the form of symbols.txt", "NTR_API int a(int x, const char *text[4]);", "int a(int, const char *[4])")
@case("the same with a callback", "NTR_API void *\na(void (*take)(int a, int b),  /* , */ size_t n);", "void *a(void (*take)(int a, int b), size_t)")
@case("the same with an attribute, and without parameters", "NTR_API bool a(void) __attribute__((pure));", "bool a(void)")
def read_signature(text, expected):
    with tempfile.TemporaryDirectory() as folder:
        os.makedirs(os.path.join(folder, "include/ntrace"))
        with open(os.path.join(folder, "include/ntrace/a.h"), "w", encoding="utf-8") as file:
            file.write(text + "\n")
        equal(symbols.signatures(folder), {"a": (True, expected)}, "signatures")


main()
