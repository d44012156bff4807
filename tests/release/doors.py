#!/usr/bin/env python3
"""The pages for readers (docs/for-*.md): every command works, line by line, in the order of the page.

usage: doors.py NTRACE

A page is run by one shell in a folder of its own, in which `examples` is a copy of the tree's. Ports that the page and the configuration of
OpenOCD name are replaced by free ones. A line must end with status 0, or with the status
that its comment names ("# status 1").
"""
import glob
import os
import re
import shutil
import signal
import socket
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import NTRACE, ROOT, case, check, equal, main, need, scratch

NEEDS = {"for-verification": ["riscv64-linux-gnu-gcc", "qemu-riscv64"], "for-firmware": ["riscv64-linux-gnu-gcc", "qemu-riscv64", "openocd"],
         "for-k3": ["riscv64-linux-gnu-gcc", "qemu-riscv64", "openocd"], "for-linux": ["riscv64-linux-gnu-gcc", "qemu-riscv64"],
         "for-certification": ["riscv64-linux-gnu-gcc", "qemu-riscv64"]}
SCREEN = 75  # lines of a page


def lines(path):
    with open(path, encoding="utf-8") as file:
        return [line for block in re.findall(r"(?ms)^```sh\n(.*?)^```", file.read()) for line in block.splitlines() if line]


def script(commands):
    """Each command, and what to say when its status is another one. A command after which & stands runs beside the others."""
    text = "expect() { [ $1 = $2 ] || { echo \"line $3: status $1, expected $2\" >&2; kill $(jobs -p) 2>/dev/null; exit 9; }; }\n"
    for number, line in enumerate(commands):
        status = re.search(r"# status (\d+)", line)
        text += f"{line}\n" + ("" if line.endswith("&") else f"expect $? {status[1] if status else 0} {number}\n")
    return text


def free_ports(names):
    """{name: a port that nothing uses}."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in names]
    ports = {name: str(s.getsockname()[1]) for name, s in zip(names, sockets)}
    for one in sockets:
        one.close()
    return ports


def with_ports(text, ports):
    return re.sub(r"\b(%s)\b" % "|".join(ports), lambda m: ports[m[1]], text)


@case("for verification engineers", "for-verification")
@case("for firmware engineers", "for-firmware", long=True)
@case("for Linux performance engineers", "for-linux", long=True)
@case("for certification engineers", "for-certification")
@case("for owners of a SpacemiT K3", "for-k3", long=True)
def page(name):
    path = os.path.join(ROOT, "docs", name + ".md")
    for tool in NEEDS[name]:
        need(tool)
    with open(path, encoding="utf-8") as file:
        check(len(file.readlines()) < SCREEN, f"{name}.md is longer than a screen")
    commands, folder = lines(path), os.path.join(scratch(), name)
    check(len(commands) > 5, f"{name}.md has {len(commands)} commands")
    os.makedirs(folder)
    shutil.copytree(os.path.join(ROOT, "examples"), os.path.join(folder, "examples"))
    ports, configuration = free_ports(("9824", "6666")), os.path.join(folder, "examples", "board", "openocd.cfg")
    with open(configuration, encoding="utf-8") as file:
        text = file.read()
    with open(configuration, "w", encoding="utf-8") as file:
        file.write(with_ports(text, ports))
    commands = [with_ports(line, ports) for line in commands]
    env = dict(os.environ, PATH=os.path.dirname(NTRACE) + os.pathsep + os.environ["PATH"], SHELL="/bin/bash")
    shell = subprocess.Popen(["bash", "-c", script(commands)], cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        out, err = shell.communicate(timeout=150)
    except subprocess.TimeoutExpired:
        os.killpg(shell.pid, signal.SIGKILL)
        out, err = shell.communicate()
    finally:  # what the page has left behind
        try:
            os.killpg(shell.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    found = re.search(r"line (\d+): status", err)
    check(shell.returncode == 0, f"{name}.md: {commands[int(found[1])] if found else 'no end'}\n{out[-800:]}{err[-800:]}")


@case("every page for readers is in the list of the manual, and has a case here")
def all_pages():
    names = sorted(os.path.basename(path)[:-3] for path in glob.glob(os.path.join(ROOT, "docs", "for-*.md")))
    equal(names, sorted(NEEDS), "pages")
    with open(os.path.join(ROOT, "docs/README.md"), encoding="utf-8") as file:
        text = file.read()
    for name in names:
        check(f"]({name}.md)" in text, f"docs/README.md does not name {name}.md")


main()
