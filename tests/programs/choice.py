#!/usr/bin/env python3
"""Which QEMU `ntrace run` takes for a program, and with which plugin and CPU. Scripts stand for QEMU: they say a version and
whether there is an option -plugin, and write down how they are started.

usage: choice.py NTRACE
"""
import os
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import NTRACE, ROOT, Run, case, check, equal, folder, main, matches, need, scratch

SCRIPT = """#!/bin/sh
case $1 in
--version) echo "qemu-riscv64 version VERSION (a script)" ;;
-h) echo "-cpu model"; echo "PLUGIN" ;;
*) echo "$@" >"$0.started"; exit 3 ;;
esac
"""
LINE = "-plugin              QEMU_PLUGIN       [file=]<file>"


def qemu(place, version, plugins=True):
    os.makedirs(place, exist_ok=True)
    path = os.path.join(place, "qemu-riscv64")
    with open(path, "w", encoding="ascii") as file:
        file.write(SCRIPT.replace("VERSION", version).replace("PLUGIN", LINE if plugins else "-strace"))
    os.chmod(path, 0o755)
    return path


def compiled(march="rv64gc"):
    path = os.path.join(scratch(), march)
    if not os.path.exists(path):
        subprocess.run([need("riscv64-linux-gnu-gcc"), "-xc", "-", "-nostdlib", "-static", f"-march={march}", "-o", path],
                       input=b"void _start(void) {}", check=True)
    return path


def run(*options, path, cache, march="rv64gc"):
    """The message; these scripts trace nothing."""
    bundle = os.path.join(folder(), "b.ntrace")
    done = Run("run", *options, "-o", bundle, "--", compiled(march), status=2,
               env={"PATH": path or "/nowhere", "NTRACE_DEBIAN": cache})
    equal(done.err.count("ntrace run:"), 1, f"messages: {done.err}")
    return done.err


def started(path):
    with open(path + ".started", encoding="ascii") as file:
        return file.read()


@case("the plugin goes with the version of QEMU, and what ends without it is named")
def versions():
    for version, plugin in (("6.0.0", 1), ("7.2.22", 1), ("8.2.2", 1), ("9.2.1", 4), ("10.0.13", 4), ("10.1.0", 4), ("11.0.2", 4),
                            ("11.1.3", 7), ("12.3.0", 7)):
        place = folder()
        path = qemu(place, version)
        message = run(path=place, cache="/nowhere")
        matches(rf"/ntrace-qemu-{plugin}\.so,channel=", started(path), version)
        matches(f'expected a QEMU built with plugins of version 6.0 to 8.2, or 9.2 or later, found "qemu-riscv64 version {version}', message, version)


@case("a version that has no plugin is refused before it is started")
def refused():
    for version in "5.2.0", "9.0.4", "9.1.0":
        place = folder()
        path = qemu(place, version)
        short = version.rpartition(".")[0]
        for options, who in ((("--qemu", path), "--qemu"), ((), "qemu-riscv64")):
            message = run(*options, path=place, cache="/nowhere")
            matches(rf"{who}: expected version 6.0 to 8.2, or 9.2 or later with plugins, found {path} \(version {short}\)", message, version)
            check("tools/fetch_qemu --user" in message and not os.path.exists(path + ".started"), message)


@case("a QEMU without plugins is passed over for that of the cache")
def cached():
    place, cache = folder(), folder()
    path, better = qemu(place, "10.0.13", plugins=False), qemu(os.path.join(cache, "qemu-user", "run"), "10.0.13")
    run(path=place, cache=cache)
    check(not os.path.exists(path + ".started"), "the first one is not started")
    matches("ntrace-qemu-4.so", started(better), "the second one")
    os.unlink(better)
    message = run(path=place, cache=cache)
    matches(rf"found {path} \(version 10.0, built without plugins\)", message, "no other")
    run("--qemu", path, path=place, cache=cache)
    matches("ntrace-qemu-4.so", started(path), "the user has named it")


@case("no QEMU at all, and a file that is none")
def none():
    matches("qemu-riscv64: expected version .*, found none in PATH or in the cache;.* tools/fetch_qemu --user", run(path=None, cache="/nowhere"), "none")
    matches(r"--qemu: expected version .*, found /bin/true \(cannot be executed, or is no QEMU\)", run("--qemu", "/bin/true", path=None, cache="/x"), "true")


@case("the CPU: rv64 where the default is `max`, unless the program's attributes name more")
def cpus():
    for march, version, options, expected in (("rv64gc", "10.0.13", (), "-cpu rv64 "), ("rv64gc", "7.2.22", (), None),
                                              ("rv64gc_zba_zbb", "11.1.3", (), "-cpu rv64 "), ("rv64gcv", "10.0.13", (), None),
                                              ("rv64gc_zfh", "10.0.13", (), None), ("rv64gc", "10.0.13", ("--cpu", "max"), "-cpu max ")):
        place = folder()
        path = qemu(place, version)
        run(*options, path=place, cache="/nowhere", march=march)
        check(expected in started(path) if expected else "-cpu" not in started(path), f"{march} {version}: {started(path)}")


@case("examples/demo ends at the step that fails, with what helps")
def demo():
    need("riscv64-linux-gnu-gcc")
    place, build = folder(), folder()
    qemu(place, "10.0.13", plugins=False)
    for tool in "riscv64-linux-gnu-gcc", "sh", "sed", "head", "cp", "mkdir", "dirname":
        os.symlink(need(tool), os.path.join(place, tool))
    os.symlink(NTRACE, os.path.join(build, "ntrace"))
    done = subprocess.run(["examples/demo"], cwd=ROOT, env={"PATH": place, "NTRACE_DEBIAN": "/nowhere", "BUILD": build}, capture_output=True,
                          text=True, check=False)
    equal(done.returncode, 1, f"status: {done.stderr}")
    equal([line[:2] for line in done.stdout.splitlines() if line[:1].isdigit()], ["1.", "2."], "steps")
    matches("built without plugins.*\n.*this step failed.*\n.*tools/fetch_qemu --user", done.stderr, "what helps")


main()
