#!/usr/bin/env python3
"""The wheel holds the libraries: installed elsewhere, without the build folder in any path, it decodes, and loads its own libraries alone.

usage: wheel.py NTRACE BUILD
"""
import glob
import os
import re
import subprocess
import sys
import zipfile

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import NTRACE, ROOT, case, check, equal, main, matches, scratch, skip

BUILD = os.path.abspath(sys.argv[2])
SCRIPT = """
import ntrace
names = [message["name"] for message in ntrace.messages(bytes.fromhex("240d000b0c0f"))]
print(names, ntrace.__version__)
print("\\n".join(sorted({line.split()[-1] for line in open("/proc/self/maps") if ".so" in line})))
"""


def python():
    for path in sys.executable, "/usr/bin/python3":
        if os.path.exists(path) and subprocess.run([path, "-c", "import setuptools, wheel, cffi, pip"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
            return path
    return skip("python-packages")


def run(*command, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, cwd=scratch(), **more)
    check(done.returncode == 0, f"{' '.join(command)}: {done.stdout[-1500:]}{done.stderr[-1500:]}")
    return done.stdout


@case("the wheel decodes with its own libraries; its tag is that of the glibc that they ask for; python -m ntrace runs its command")
def wheel():
    interpreter, out, target = python(), os.path.join(scratch(), "wheels"), os.path.join(scratch(), "installed")
    run(os.path.join(ROOT, "tools/release/wheel"), BUILD, out, "--command", NTRACE)
    path = glob.glob(os.path.join(out, "*.whl"))[0]
    found = re.search(r"-cp39-abi3-manylinux_(\d+)_(\d+)_\w+\.whl$", path)
    check(found, f"tag of {os.path.basename(path)}")
    with zipfile.ZipFile(path) as file:
        names = file.namelist()
    for name in "ntrace/libs/libntrace.so.1", "ntrace/libs/libntrace-tools.so.1", "ntrace/_native.pyi", "ntrace/py.typed":
        check(name in names, f"{name} is not in the wheel")
    others = [name for name in names if re.match(r"ntrace/libs/lib(?!ntrace)[^/]*\.so", name)]
    equal(len([name for name in names if name.startswith("ntrace/libs/licences/")]), len(others), "licences")
    run(interpreter, "-m", "pip", "--quiet", "--disable-pip-version-check", "install", "--no-deps", "--no-index", "--target", target, path)
    asked = {tuple(map(int, number)) for library in glob.glob(target + "/ntrace/**/*.so*", recursive=True)
             if not library.endswith(".txt") for number in re.findall(r"GLIBC_(\d+)\.(\d+)", run("readelf", "-VW", library))}
    check(max(asked) <= (int(found[1]), int(found[2])), f"glibc {max(asked)} of {os.path.basename(path)}")
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("LD_", "NTRACE"))}
    lines = run(interpreter, "-c", SCRIPT, env=dict(environment, PYTHONPATH=target)).splitlines()
    matches(r"^\['ProgTraceSync', 'DirectBranch'\] \d", lines[0], "messages")
    loaded = [line for line in lines[1:] if re.search(r"/lib(ntrace|elf|dw|jansson|sqlite3|zstd|protobuf-c|ext2fs)\b", line)]
    check(len(loaded) > 2 and all(line.startswith(target) for line in loaded), f"loaded: {loaded}")
    equal(run(interpreter, "-m", "ntrace", "--version", env=dict(environment, PYTHONPATH=target, PATH="/nowhere")).split()[0], "ntrace", "command of the wheel")


main()
