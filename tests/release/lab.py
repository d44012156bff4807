#!/usr/bin/env python3
"""The third tier: with -Dlab=true its headers are installed and its functions exported, and a program that uses them builds and runs;
without it, neither is there.

usage: lab.py BUILD
"""
import os
import re
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import ROOT, case, check, equal, main, need, scratch, write

BUILD = os.path.abspath(sys.argv[1])
NO = ("tests", "qemu-plugin", "sqlite", "ext2fs", "perfetto", "clang", "mpi", "http", "ncurses", "llvm", "archive", "digests")  # builds without what it does not need
PROGRAM = r"""
#include <ntrace/lab.h>
#include <stdio.h>

int main(void) {
    static const uint8_t beginning[NTR_MODULE_BEGINNING] = {0x7f, 'E', 'L', 'F', 2, 1, 1, [16] = 1, [18] = 243};
    ntr_module *module;
    ntr_partial *partial;
    ntr_status status = ntr_module_new("module.ko", NULL, &module);
    if (status == NTR_OK) status = ntr_partial_new(NULL, &partial);
    if (status != NTR_OK) return 1;
    puts(ntr_module_is((ntr_bytes){beginning, sizeof beginning}) ? "a module" : "no module");
    puts(ntr_status_name(ntr_partial_open(partial, "/nowhere", 0)));
    ntr_partial_free(partial);
    ntr_module_free(module);
    return 0;
}
"""


def run(*command, cwd=None, env=None):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=cwd or scratch(), env=dict(os.environ, **(env or {})),
                          check=False)
    check(done.returncode == 0, f"{' '.join(command)}: status {done.returncode}: {done.stdout[-2000:]}")
    return done.stdout


def declared():
    """The functions of the lab, by the macro in front of them."""
    names = set()
    for name in os.listdir(os.path.join(ROOT, "include/ntrace")):
        with open(os.path.join(ROOT, "include/ntrace", name), encoding="utf-8") as file:
            names |= set(re.findall(r"^NTR_LAB_API [^;(]*?(\w+)\(", file.read(), re.M))
    return names


def exported(folder):
    names = set()
    for library in "libntrace.so", "libntrace-tools.so":
        names |= set(re.findall(r" T (\w+)", run("nm", "-D", "--defined-only", os.path.join(folder, library))))
    return names


@case("without -Dlab=true, no function of the lab is exported")
def default():
    wanted = declared()
    check(len(wanted) > 60, f"{len(wanted)} functions are declared")
    equal(sorted(wanted & exported(BUILD)), [], "functions of the lab")


@case("with -Dlab=true, all are exported, and a program that includes <ntrace/lab.h> builds and runs")
def lab():
    folder, root = os.path.join(scratch(), "lab"), os.path.join(scratch(), "root")
    run("meson", "setup", folder, ROOT, "-Dlab=true", "-Doptimization=0", "-Ddebug=false", "--prefix", "/usr/local", "--libdir", "lib",
        *(f"-D{name}=disabled" for name in NO))
    run("ninja", "-C", folder)
    equal(sorted(declared() - exported(folder)), [], "functions that are missing")
    run("meson", "install", "-C", folder, "--no-rebuild", "--destdir", root)
    libraries = os.path.join(root, "usr/local/lib")
    flags = run(need("pkg-config"), "--cflags", "--libs", "libntrace-tools",
                env={"PKG_CONFIG_PATH": os.path.join(libraries, "pkgconfig"), "PKG_CONFIG_SYSROOT_DIR": root}).split()
    write("lab.c", PROGRAM.encode())
    run("cc", "-Wall", "-Werror", "-o", "lab-program", os.path.join(scratch(), "lab.c"), *flags)
    equal(run("./lab-program", env={"LD_LIBRARY_PATH": libraries}), "a module\nNTR_E_IO\n", "output")


main()
