#!/usr/bin/env python3
"""tools/debian_root without a network: where the mirror is read from, what is said when packages cannot be had, and links.

Nothing listens at port 9 of this machine: apt's message about it names the mirror that was chosen.
"""
import argparse
import importlib.machinery
import importlib.util
import os
import shutil
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
import harness
from harness import case, folder, skip

TOOL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "debian_root")
DEBIAN = 'PRETTY_NAME="Debian"\nID=debian\n'
DEB822 = """# a comment
Types: deb-src
URIs: http://127.0.0.1:9/sources
Suites: bookworm

Enabled: no
Types: deb
URIs: http://127.0.0.1:9/off
Suites: bookworm

Types: deb
URIs: http://127.0.0.1:9/fixes
Suites: bookworm-security

Types: deb deb-src
# where
URIs:
  http://127.0.0.1:9/deb822
  http://127.0.0.1:9/second
Suites: bookworm bookworm-updates
Components: main
"""
LINES = """deb-src http://127.0.0.1:9/sources bookworm main
# deb http://127.0.0.1:9/off bookworm main
deb http://127.0.0.1:9/fixes bookworm-security main
deb [arch=amd64 signed-by=/x.gpg] http://127.0.0.1:9/one-line bookworm main contrib
"""


def fetch(place, files, words=("hello",), **more):
    """Run with these files in place of /etc/apt; the exit status and the message."""
    etc = os.path.join(place, "etc")
    shutil.rmtree(etc, ignore_errors=True)
    for name, text in files.items():
        path = os.path.join(etc, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    environment = {"PATH": os.environ["PATH"], "NTRACE_APT_SOURCES": etc, "NTRACE_DEBIAN": os.path.join(place, "cache"), **more}
    done = subprocess.run([TOOL, *words], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)
    return done.returncode, done.stdout + done.stderr


def reads_deb822(folder):
    status, text = fetch(folder, {"os-release": DEBIAN, "sources.list.d/debian.sources": DEB822})
    assert status == 1 and "http://127.0.0.1:9/deb822 trixie" in text, text


def reads_lines(folder):
    status, text = fetch(folder, {"os-release": DEBIAN, "sources.list": LINES})
    assert status == 1 and "http://127.0.0.1:9/one-line trixie" in text, text


def takes_other_mirror(folder):
    status, text = fetch(folder, {"os-release": "ID=other\n"}, NTRACE_DEBIAN_MIRROR="http://127.0.0.1:9/given")
    assert status == 1 and "http://127.0.0.1:9/given trixie" in text, text


def says_no_network(folder):
    _, text = fetch(folder, {"os-release": DEBIAN, "sources.list": LINES})
    assert text.startswith("tools/debian_root: apt-get update failed: ") and text.count("\n") == 1, text


def says_no_mirror(folder):
    status, text = fetch(folder, {"os-release": DEBIAN, "sources.list": "# nothing\n"})
    assert status == 1 and "name no mirror" in text, text


def other_distributions(folder):
    """Debian's own mirror: that of the distribution has other packages. No network is used."""
    for name, mirror in (("ubuntu", "http://deb.debian.org/debian"), ("debian", "http://127.0.0.1:9/one-line")):
        for file, text in (("os-release", f'ID="{name}"\n'), ("sources.list", LINES)):
            with open(os.path.join(folder, file), "w", encoding="ascii") as out:
                out.write(text)
        code = f"import importlib.machinery as m; print(m.SourceFileLoader('tool', {TOOL!r}).load_module().mirror())"
        found = subprocess.run([sys.executable, "-B", "-W", "ignore", "-c", code], env=dict(os.environ, NTRACE_APT_SOURCES=folder, NTRACE_DEBIAN_MIRROR=""),
                               capture_output=True, text=True, check=True).stdout.strip()
        assert found == mirror, (name, found)


def needs_no_network_for_what_is_there(folder):
    root = os.path.join(folder, "cache", "trixie-riscv64")
    os.makedirs(root, exist_ok=True)
    with open(os.path.join(root, ".wanted"), "w", encoding="ascii") as file:
        file.write("one\ntwo\n")
    assert fetch(folder, {}, ("two", "one")) == (0, root + "\n")
    status, text = fetch(folder, {}, ("--offline", "one", "three"))
    assert status == 1 and text.endswith("does not have three\n"), text


def module():
    loader = importlib.machinery.SourceFileLoader("debian_root", TOOL)
    tool = importlib.util.module_from_spec(importlib.util.spec_from_loader("debian_root", loader))
    loader.exec_module(tool)
    return tool


def takes_the_other_name(folder):
    """A mirror that is being updated: the lists of trixie do not match, and `stable` is what its signed file says."""
    tool = module()
    tool.mirror = lambda: "http://127.0.0.1:9/"

    class Mirror(tool.Root):
        stable, error, asked = "trixie", "File has unexpected size (1 != 2)", 0

        def apt(self, *words):
            self.asked += 1
            source = tool.read(os.path.join(self.state, "etc/apt/sources.list.d/debian.sources"))
            if "Suites: trixie" in source:
                raise tool.Unavailable(self.error)
            lists = os.path.join(self.state, "var/lib/apt/lists")
            for name, code in ("stable", self.stable), ("stable-updates", self.stable + "-updates"), ("testing", "forky"), ("oldstable", "bookworm"):
                self.write(os.path.join(lists, f"127.0.0.1_dists_{name}_InRelease"), f"Suite: {name}\nCodename: {code}\n")

    def updated(**more):
        root = Mirror(argparse.Namespace(folder=os.path.join(folder, "other"), suite=["trixie", "trixie-updates"], arch="riscv64", over_system=False, source=False))
        vars(root).update(more)
        try:
            return root.update(), root.asked
        except tool.Unavailable as error:
            return str(error), root.asked

    assert updated() == (("trixie", "stable"), 2), updated()
    assert updated(stable="forky") == (Mirror.error, 4), updated(stable="forky")  # no name is that of trixie: the first reason
    assert updated(error="Could not connect") == ("Could not connect", 1)


def keeps_links_inside(folder):
    tool = module()
    root = os.path.join(folder, "root")
    os.makedirs(os.path.join(root, "etc/java"))
    os.makedirs(os.path.join(root, "usr/lib/jvm"))
    with open(os.path.join(root, "etc/java/policy"), "w", encoding="ascii") as file:
        file.write("here")
    links = {"usr/lib/jvm/conf": "/etc/java", "usr/lib/jvm/policy": "/etc/java/policy", "lib": "usr/lib", "etc/none": "/nowhere"}
    for path, target in links.items():
        os.symlink(target, os.path.join(root, path))
    tool.keep_links_inside(root)
    found = {path: os.readlink(os.path.join(root, path)) for path in links}
    assert found == {"usr/lib/jvm/conf": "../../../etc/java", "usr/lib/jvm/policy": "../../../etc/java/policy", "lib": "usr/lib",
                     "etc/none": "../nowhere"}, found
    for path in "usr/lib/jvm/conf/policy", "lib/jvm/policy":
        with open(os.path.join(root, path), encoding="ascii") as file:
            assert file.read() == "here", path


FUNCTIONS = [takes_the_other_name, reads_deb822, reads_lines, takes_other_mirror, says_no_network, says_no_mirror, other_distributions,
             needs_no_network_for_what_is_there, keeps_links_inside]


def run(function):
    if not os.path.exists("/usr/share/keyrings/debian-archive-keyring.gpg"):
        skip("debian-keyring")
    function(folder())


for each in FUNCTIONS:
    case(each.__name__, each)(run)
harness.main("apt-get", "dpkg", "dpkg-deb")
