#!/usr/bin/env python3
"""tools/deps on Fedora, with rpm and dnf that only write down what they are asked: names of packages, statuses and messages. TAP."""
import os
import shutil
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import ROOT, case, check, equal, folder, main

TOOLS = ("sh", "readlink", "dirname", "tr", "sed", "id", "mktemp", "tail", "rm")


def deps(word, here="", status=0):
    """Run with these packages here, by a dnf of this status. Its status, its output, and what dnf was asked."""
    place = folder()
    for tool in TOOLS:
        os.symlink(shutil.which(tool), os.path.join(place, tool))
    log = os.path.join(place, "log")
    for name, text in (("rpm", f'case " {here} " in *" $2 "*) ;; *) exit 1 ;; esac'), ("dnf", f'echo "$*" >"{log}"; echo said; exit {status}'),
                       ("sudo", '"$@"')):
        with open(os.path.join(place, name), "w", encoding="ascii") as file:
            file.write(f"#!/bin/sh\n{text}\n")
        os.chmod(file.name, 0o755)
    release = os.path.join(place, "os-release")
    with open(release, "w", encoding="ascii") as file:
        file.write('NAME="Fedora Linux"\nID=fedora\nVERSION_CODENAME=""\n')
    done = subprocess.run([os.path.join(ROOT, "tools/deps"), word], env={"PATH": place, "NTRACE_OS_RELEASE": release}, capture_output=True, text=True, timeout=60)
    asked = ""
    if os.path.exists(log):
        with open(log, encoding="ascii") as file:
            asked = file.read().strip()
    return done.returncode, done.stdout + done.stderr, asked


PACKAGES = ("meson ninja-build gcc pkgconf-pkg-config python3 elfutils-libelf-devel elfutils-devel xz-devel jansson-devel libzstd-devel sqlite-devel "
            "protobuf-c-devel ncurses-devel protobuf-c-compiler nettle-devel libmicrohttpd-devel libarchive-devel e2fsprogs-devel")


@case("Fedora: dnf is asked for what is missing, by Fedora's names")
def asks():
    equal(deps("build"), (0, f"installing: {PACKAGES}\n", f"install -y {PACKAGES}"), "nothing is there")
    equal(deps("build", here=PACKAGES.partition("xz-devel ")[2])[2], "install -y " + PACKAGES.partition(" jansson")[0], "half is there")
    equal(deps("build", here=PACKAGES), (0, "", ""), "all is there")


@case("Fedora: a dnf that fails, and packages whose names are not known")
def fails():
    status, text, _ = deps("build", here=PACKAGES.replace("xz-devel", ""), status=1)
    equal((status, text), (1, "installing: xz-devel\nsaid\ntools/deps: this failed (see above): dnf install -y xz-devel\n"), "dnf fails")
    status, text, asked = deps("demo")
    equal((status, asked), (1, ""), "demo")
    check("of Fedora's packages, only those for `tools/deps build` are known" in text, text)


main()
