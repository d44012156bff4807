#!/usr/bin/env python3
"""doctor: what is here, what is missing, what it is for and what to install; the status says whether programs can be traced.

usage: doctor.py NTRACE
"""
import json
import os
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import NTRACE, Run, case, check, equal, main, matches, need, scratch, write

NOTHING = dict(PATH="/proc/nowhere", XDG_CACHE_HOME="/proc/nowhere", HOME="/proc/nowhere", NTRACE_DEBIAN="/proc/nowhere", TMPDIR="/tmp")


def fake(name, version, help_text="-plugin x"):
    """A folder for PATH with a QEMU that says these things."""
    folder = os.path.join(scratch(), f"{name}-{version}")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, name)
    with open(path, "w", encoding="ascii") as file:
        file.write(f"#!/bin/sh\n[ \"$1\" = -h ] && printf 'x\\n{help_text}\\n' || echo 'qemu version {version}'\n")
    os.chmod(path, 0o755)
    return folder


def doctor(*options, status, **environment):
    return Run("doctor", *options, status=status, env=dict(os.environ, **{**NOTHING, **environment}), cwd=environment.get("cwd", scratch()))


@case("without QEMU: what is missing, what for, what to install; status 1")
def nothing():
    out = doctor(status=1).out
    matches(r"^MISSING  QEMU for programs       qemu-riscv64: expected version 6\.0 to 8\.2, or 9\.2 or later with plugins, found none in PATH or in the cache\n"
            r" {32} for: ntrace run PROGRAM\n {33}apt install qemu-user \(Debian 12\); where it has no plugins: tools/fetch_qemu --user "
            r"\(installed in share/ntrace/tools\)\n", out, "QEMU")
    matches(r"\nmissing  GDB                     none that knows RISC-V in PATH\n {32} for: ntrace gdb\n {33}apt install gdb-multiarch\n", out, "GDB")
    equal(out.splitlines()[-1], "programs cannot be traced here; traces from elsewhere can be read", "last line")


@case("a QEMU that is too old, and one without plugins: why it is not used")
def not_used():
    matches(r"QEMU for programs +qemu-riscv64: expected .*, found \S+/qemu-riscv64 \(version 5\.2\)", doctor(status=1, PATH=fake("qemu-riscv64", "5.2")).out, "old")
    plain = fake("qemu-riscv64", "7.2", "-cpu x") + ":/usr/bin:/bin"
    rows = json.loads(doctor("--format", "json", status=None, PATH=plain).out)["checks"]
    if not rows[0]["ok"]:  # /usr/bin may have another one
        matches("version 7.2, built without plugins", rows[0]["found"], "plain")


@case("with QEMU: its path, version and plugin; status 0")
def good():
    qemu = need("qemu-riscv64")
    where = os.path.dirname(qemu)
    out = doctor(status=None, PATH=where).out
    if "built without plugins" in out.splitlines()[0]:
        return check(True, "this system's QEMU has no plugins")
    matches(rf"^ok       QEMU for programs       {qemu}, version \d+\.\d+; plugin {os.path.dirname(NTRACE)}/ntrace-qemu-\d\.so\n", out, "QEMU")
    equal(out.splitlines()[-1], "programs can be traced; next: ntrace run ./PROGRAM", "last line")
    equal(doctor(status=0, PATH=where).out, out, "status 0")


@case("a folder in which no file can be made: status 1")
def folder():
    out = doctor(status=1, cwd="/proc").out
    matches(r"\nMISSING  this folder             /proc: files cannot be written\n {32} for: the bundle of ntrace run\n {33}cd to a folder of your own, or give -o BUNDLE\n", out, "folder")
    matches(r"MISSING  temporary files         /proc/nowhere: files cannot be written", doctor(status=1, TMPDIR="/proc/nowhere").out, "TMPDIR")


@case("--format json: the same as an object")
def as_json():
    found = json.loads(doctor("--format", "json", status=1).out)
    equal(found["works"], False, "works")
    equal({tuple(sorted(row)) for row in found["checks"] if not row["ok"]}, {("found", "help", "name", "ok", "required", "use")}, "keys")
    equal([row["name"] for row in found["checks"] if row["required"]], ["QEMU for programs", "this folder", "temporary files"], "required")


main()
