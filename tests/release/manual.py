#!/usr/bin/env python3
"""The manual as HTML: every link and every anchor leads somewhere, and the check sees those that do not."""
import os
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import ROOT, case, check, equal, main, need, scratch, write

sys.dont_write_bytecode = True
import importlib.machinery  # noqa: E402
import importlib.util  # noqa: E402


def tool():
    loader = importlib.machinery.SourceFileLoader("manual", os.path.join(ROOT, "tools/manual"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


@case("dead links and dead anchors are named, live ones are not")
def dead_links():
    os.makedirs(os.path.join(scratch(), "html"))
    write("html/a.html", b'<h1 id="top">A</h1><a href="b.html#there">1</a><a href="b.html#gone">2</a><a href="c.html">3</a><a href="#top">4</a>'
                         b'<a href="https://example.org/x">5</a><img src="d.png">')
    write("html/b.html", b'<h1 id="there">B</h1>')
    bad, pages, links = tool().check(os.path.join(scratch(), "html"))
    equal(bad, ["a.html: b.html#gone: no such heading", "a.html: c.html: no such file", "a.html: d.png: no such file"], "dead links")
    equal((pages, links), (2, 6), "pages and links")


@case("the manual builds; all its links lead somewhere; each page of docs is in it, with a search")
def manual():
    need("mkdocs")
    done = subprocess.run([os.path.join(ROOT, "tools/manual"), os.path.join(scratch(), "manual")], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    check(done.returncode == 0, done.stdout)
    built = os.path.join(scratch(), "manual/html")
    for name in os.listdir(os.path.join(ROOT, "docs")):
        if name.endswith(".md"):
            check(os.path.exists(os.path.join(built, "docs", ("index" if name == "README.md" else name[:-3]) + ".html")), f"{name} is not in the manual")
    check(os.path.getsize(os.path.join(built, "search/search_index.json")) > 100000, "index of the search")


main()
