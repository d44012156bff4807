#!/usr/bin/env python3
"""The page in a browser: web/stories.mjs drives Chromium by Playwright. The page of the tree is what its sources give.

usage: stories.py NTRACE
NTRACE_SHOTS=FOLDER: screenshots for the manual. The long case is that of a boot, which `make demo-linux` traces (NTRACE_TEST_BOOT: another).
"""
import functools
import json
import os
import re
import shutil
import signal
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import DEADLINE, NTRACE, ROOT, case, check, equal, main, need, scratch, skip, write
from story import SOURCE, bundle, called, crashed, damaged, program, traced, trapped

SHOTS = os.environ.get("NTRACE_SHOTS")
BOOT = os.environ.get("NTRACE_TEST_BOOT", os.path.join(ROOT, "build", "demo-linux", "linux.ntrace"))
with open(os.path.join(ROOT, "web", "stories.mjs"), encoding="utf-8") as text:
    STORIES = re.findall(r'^story\("(.*)", setup\.', text.read(), re.M)


@functools.cache
def web():
    """A copy of web/ with the packages of its lock file."""
    need("node")
    npm = need("npm")
    folder = os.path.join(scratch(), "web")
    shutil.copytree(os.path.join(ROOT, "web"), folder, ignore=shutil.ignore_patterns("node_modules"))
    done = subprocess.run([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          timeout=DEADLINE, check=False)
    return folder if done.returncode == 0 else skip("npm-packages")


@case("the page of the tree is what its sources give")
def built():
    made = os.path.join(scratch(), "made.html")
    subprocess.run(["npx", "tsc", "--noEmit"], cwd=web(), check=True)
    subprocess.run(["node", "build.mjs", made], cwd=web(), check=True)
    with open(made, "rb") as file, open(os.path.join(ROOT, "web", "explore.html"), "rb") as tree:
        made, tree = file.read(), tree.read()
    check(made == tree, "web/explore.html is not what web/src gives: cd web && npm ci && npm run build")
    check(len(tree) < 1 << 20, "the page has less than 1 MB")


def open_page(*words):
    process = subprocess.Popen([NTRACE, "open", "--no-browser", "--cache", "none", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    url = process.stdout.readline().strip()
    if not url:
        error = process.communicate()[1]
        skip("build-http") if "libmicrohttpd" in error else check(False, error)
    return process, url


def small_pages():
    hostile = os.path.join(scratch(), "hostile")
    subprocess.run([need("riscv64-linux-gnu-gcc"), "-O1", "-static", "-o", hostile, os.path.join(os.path.dirname(SOURCE), "hostile.c")], check=True)
    subprocess.run([need("riscv64-linux-gnu-objcopy"), "--redefine-sym", "first=<img src=x onerror=alert(1)>",
                    "--redefine-sym", "second=</script><script>alert(2)</script>", hostile], check=True)
    stream, options = damaged()
    return {"one": [bundle()], "two": [bundle(), traced(program("-DROUNDS=10"), "fewer")], "gaps": [stream, *options], "traps": [trapped()[0], *trapped()[1]], "calls": [called()[0], *called()[1]], "crash": [crashed()], "hostile": [traced(hostile, "hostile")]}


@functools.cache
def results(long):
    """{name: error} of the stories."""
    chromium = need("chromium")
    folder = web()
    pages = {"boot": [BOOT if os.path.exists(BOOT) else skip("boot")]} if long else small_pages()
    processes = {name: open_page(*words) for name, words in pages.items()}
    setup = {"chromium": chromium, "shots": SHOTS and os.path.abspath(SHOTS), **{name: url for name, (_, url) in processes.items()}}
    try:
        done = subprocess.run(["node", "stories.mjs", write("setup.json", json.dumps(setup).encode())], cwd=folder, capture_output=True, text=True,
                              timeout=5 * DEADLINE, check=False, env={**os.environ, "NTRACE_TEST_CASE": ""})
    finally:
        for process, _ in processes.values():
            process.send_signal(signal.SIGINT)
            process.communicate()
    check(done.returncode == 0, done.stderr[-1500:])
    return {row["name"]: row["error"] for row in map(json.loads, done.stdout.splitlines())}


def judge(name, long):
    equal(results(long).get(name, "was not told"), None, "error")


for story_name in STORIES:
    case(story_name, story_name, story_name.startswith("a boot"), long=story_name.startswith("a boot"))(judge)
main()
