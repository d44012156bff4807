#!/usr/bin/env python3
"""The binary interface: programs compiled against earlier headers run with this library.

Arguments: libntrace.so, libntrace-tools.so, the C compiler.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
LIBRARY, TOOLS, COMPILER = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3:]
CONFIGS = ("ntr_decoder_config", "ntr_encoder_config")
STUB = """
#include <ntrace/decoder.h>
NTR_API ntr_decoder *ntr_decoder_new(const ntr_decoder_config *config, ntr_status *status) {
    return config && status ? 0 : 0;
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
    done = run("abidiff", "--no-added-syms", "--suppressions", os.path.join(HERE, "compatible.suppr"), old, new)
    return done.returncode == 0, done.stdout


def has_types(library):
    return ".debug_info" in run("readelf", "-S", "-W", library).stdout


def baseline(library):
    name = os.path.basename(library).split(".so")[0]
    if not has_types(library):
        return None, "the library was built without debug information"
    return compatible(os.path.join(HERE, f"{name}.abi"), library)


def cases():
    now = output_of(same)
    yield "a program with today's headers runs", now.startswith("0\n"), now
    for what, change in (("headers in which configs are shorter", without_last), ("headers in which configs are longer", with_one_more)):
        then = output_of(change)
        yield f"a program compiled against {what} does the same", then == now, then
    if not shutil.which("abidiff"):
        for what in ("growth", "insertion", "removal", "libntrace", "libntrace-tools"):
            yield f"{what} # SKIP no abidiff", True, ""
        return
    good, text = compared(with_one_more)
    yield "a config that grows at its end is compatible", good, text
    good, text = compared(with_one_inside)
    yield "a member in the middle of a config is reported", not good, text
    good, text = compared(same, "-DREMOVED")
    yield "a function that is missing is reported", not good, text
    for library in (LIBRARY, TOOLS):
        good, text = baseline(library)
        name = os.path.basename(library).split(".so")[0]
        yield f"{name} is compatible with its baseline" + (f" # SKIP {text}" if good is None else ""), good is not False, text


def main():
    number = 0
    for number, (what, good, text) in enumerate(cases(), 1):
        print(f"{'ok' if good else 'not ok'} {number} - {what}", flush=True)
        if not good:
            print("\n".join("# " + line for line in text.splitlines()[:60]))
    print(f"1..{number}")


main()
