#!/usr/bin/env python3
"""Every page that we write, of a bundle whose every name is markup, script or a control of text: Chromium shows text, and obeys nothing.

usage: hostile_pages.py NTRACE
The page of `ntrace open` has a story of its own (web/stories.mjs).
"""
import contextlib
import functools
import json
import os
import struct
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from browser import Browser
from harness import Run, bytes_of, case, check, equal, main, need, scratch

MARKUP = ("</script><script>window.pwned=1</script>", "\"'><img src=x onerror=window.pwned=1>", "--><svg onload=window.pwned=1>{{data}}${window.pwned=1}",
          "</style><iframe src=javascript:window.top.pwned=1>", "]]><a href=javascript:window.pwned=1>&lt;b&#62;</a>", "`);window.pwned=1;//\\")
CONTROLS = "\u202etxt\u2066\u200f\x1b[31m\x07\x9b\u2028"
SOURCE = """/* %s */
__attribute__((noinline)) int second(int value) { return value > 3 ? value * 2 : value; } // %s
__attribute__((noinline)) int first(int value) { return second(value) + 1; }
void _start(void) { first(1); for (;;) ; }
"""
OPEN = contextlib.ExitStack()
# What a page may obey, or may be read in another order: counted in the page of the hostile and of the harmless bundle.
COUNTED = """({
  pwned: typeof window.pwned, title: typeof document.title,
  scripts: document.scripts.length, images: document.querySelectorAll("img, image, iframe, object, embed, link, foreignObject").length,
  handlers: [...document.querySelectorAll("*")].filter(e => [...e.attributes].some(a => /^on/.test(a.name))).length,
  addresses: [...document.querySelectorAll("*")].filter(e => [...e.attributes].some(a => /^\\s*javascript:/i.test(a.value))).length,
  controls: /[\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069]/.test(document.documentElement.textContent),
})"""


def named(number, hostile):
    return MARKUP[number % len(MARKUP)] + CONTROLS if hostile else f"name{number}"


def write_file(path, content):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content)
    return path


@functools.cache
def bundle(hostile, variant=0):
    """A bundle; the words of the trace depend on `variant`, so that two can be compared."""
    folder = os.path.join(scratch(), f"made-{hostile}-{variant}")
    name = named(1, hostile).replace("/", "-") + ".c"
    source = write_file(os.path.join(folder, name), (SOURCE % (named(0, hostile).replace("*/", ""), named(2, hostile).replace("\u2028", "").replace("\\", "")))
                        .encode())
    elf = os.path.join(folder, "elf")
    subprocess.run([need("riscv64-linux-gnu-gcc"), "-g", "-w", "-O1", "-nostdlib", "-static", "-march=rv64imac", "-mabi=lp64", "-o", elf, source], check=True)
    subprocess.run([need("riscv64-linux-gnu-objcopy"), "--redefine-sym", "first=" + named(3, hostile), "--redefine-sym", "second=" + named(4, hostile),
                    "--strip-debug" if variant else "--weaken-symbol=none", elf], check=True)
    with open(elf, "rb") as file:
        code = file.read()
    entry = struct.unpack_from("<Q", code, 24)[0]
    whole = os.path.join(folder, named(5, hostile).replace("/", "-") + ".ntrace")
    capture = {"format": "ntrace-bundle", "version": 1, "stream": "trace.nex", "params": {}, "command": [named(0, hostile), named(1, hostile)],
               "target": named(2, hostile), "tool": named(3, hostile), "test": named(4, hostile), "tick": "instruction",
               "losses": [{"position": 0, "what": named(5, hostile)}],
               "images": [{"file": "images/prog", "kind": "elf", "name": named(0, hostile)}]}
    write_file(os.path.join(whole, "capture.json"), json.dumps(capture).encode())
    write_file(os.path.join(whole, "images", "prog"), code)
    write_file(os.path.join(whole, "trace.nex"), bytes_of(f"ProgTraceSync SYNC=3 ICNT=0 FADDR={entry >> 1:#x}\nProgTraceCorrelation EVCODE=0 CDF=0 ICNT={4 + variant}\n"))
    return whole


@functools.cache
def browser():
    if not Browser.command():
        need("chromium")
    return OPEN.enter_context(Browser())


def report(out, hostile):
    Run("report", "-o", out, bundle(hostile), status=None)


def flame(out, hostile):
    Run("flame", "-o", out, bundle(hostile), status=None)


def differential(out, hostile):
    Run("compare", "--flame", out, bundle(hostile), bundle(hostile, 1), status=None)


def evidence(out, hostile):
    folder = os.path.join(os.path.dirname(out), f"evidence-{hostile}")
    Run("coverage", "--evidence", folder, bundle(hostile), status=None)
    os.replace(os.path.join(folder, "report.html"), out)


def page(make, name, hostile):
    """What Chromium counts in the page."""
    out = os.path.join(scratch(), f"{hostile}-{name}")
    make(out, hostile)
    if not os.path.exists(out):
        return None
    shown = browser()
    shown.open(out)
    counted = shown.run(COUNTED)
    equal(shown.problems, [], f"{name}: what the page reports")
    equal([url for url in shown.requests if not url.startswith(("file://", "data:"))], [], f"{name}: addresses that were asked for")
    equal(len([url for url in shown.requests if url.startswith("file://")]), 1, f"{name}: files that were asked for")
    with open(out, encoding="utf-8") as file:
        return counted, file.read()


@case("report: an HTML page", report, "report.html")
@case("flame: an SVG file", flame, "flame.svg")
@case("compare --flame: a differential flame graph", differential, "differential.svg")
@case("coverage --evidence: the report", evidence, "evidence.html")
def _(make, name):
    (hostile, text), (plain, _) = page(make, name, True), page(make, name, False)
    equal(hostile, plain, f"{name}: what the page has beside text")
    equal((hostile["pwned"], hostile["controls"]), ("undefined", False), f"{name}: scripts that ran, controls of text")
    check("pwned" in text, f"{name}: the names are in the page")


with OPEN:
    main()
