#!/usr/bin/env python3
"""The explorer without a server: what `make web` makes gives the answers of the command, in Node and in Chromium.

usage: alone.py NTRACE WEB       WEB: the build folder of tools/web
"""
import functools
import hashlib
import http.server
import json
import os
import re
import subprocess
import sys
import tarfile
import threading
import zipfile

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import DEADLINE, ROOT, case, check, equal, main, matches, need, scratch, skip, write
from story import SOURCE, ask, bundle, damaged, program

WEB = sys.argv[2] if len(sys.argv) > 2 else os.path.join(ROOT, "build-web")
QUESTIONS = [{"query": "about"}, {"query": "overview", "columns": 50}, {"query": "slices"}, {"query": "tree"}, {"query": "functions"},
             {"query": "find", "text": "sum_of"}, {"query": "find", "text": "sum_of", "position": 300000, "direction": "previous"},
             {"query": "at", "position": 36066}, {"query": "messages", "position": 36066}, {"query": "lines", "position": 36066},
             {"query": "lines", "from": 300000, "to": 301000, "file": SOURCE}, {"query": "syscalls"}, {"query": "names", "text": "sum"}, {"query": "gaps"},
             {"query": "find", "text": "no such function"}]


def built(*names):
    path = os.path.join(WEB, *names)
    return path if os.path.exists(path) else skip("web")


def alone(*words, status=0):
    """Lines of web/alone.mjs, or its error."""
    need("node")
    done = subprocess.run(["node", os.path.join(ROOT, "web/alone.mjs"), *words], capture_output=True, text=True, timeout=DEADLINE, check=False)
    equal(done.returncode, status, f"status; {done.stderr[-800:]}")
    return done.stderr if status else done.stdout.splitlines()


def plain(answer):
    """Without the texts of a disassembler, which the engine has not, and without the folder of the test."""
    if isinstance(answer, dict):
        return {key: plain(value) for key, value in answer.items() if key not in ("text", "disassembly")}
    if isinstance(answer, list):
        return [plain(value) for value in answer]
    return re.sub(r"^/\d+/", "", answer.replace(scratch() + "/", "")) if isinstance(answer, str) else answer


def same(lines, trace, *options):
    expected = [plain(answer) for answer in ask(trace, *QUESTIONS, status=2, options=options)]
    answers = [plain(json.loads(line)) for line in lines]
    equal(len(answers), len(expected), "number of answers")
    for question, answer, want in zip(QUESTIONS, answers, expected):
        equal(answer, want, json.dumps(question))


@functools.cache
def archive(kind):
    """The bundle as an archive."""
    path, folder = os.path.join(scratch(), "story.ntrace." + kind), bundle()
    if kind == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
            for root, _, names in os.walk(folder):
                for name in names:
                    file.write(os.path.join(root, name), os.path.relpath(os.path.join(root, name), os.path.dirname(folder)))
    else:
        with tarfile.open(path, "w:gz" if kind.endswith("gz") else "w") as file:
            file.add(folder, os.path.basename(folder))
    return path


@case("Node: the answers about a bundle are those of the command")
def of_bundle():
    same(alone("node", built("npm"), json.dumps(QUESTIONS), bundle()), bundle())


@case("Node: a bundle in a .zip", "zip")
@case("Node: a bundle in a .tar", "tar")
@case("Node: a bundle in a .tar.gz", "tar.gz")
def of_archive(kind):
    same(alone("node", built("npm"), json.dumps(QUESTIONS), archive(kind)), bundle())


@case("Node: a stream with damage and its ELF file, with options")
def of_stream():
    stream, options = damaged()
    words = [word for word in options if word.startswith("--")]
    same(alone("node", built("npm"), json.dumps(QUESTIONS), stream, program(), *words), stream, *options)


@case("what is no trace: an error that says what is missing")
def no_trace():
    matches("expected a bundle .* or one stream and its ELF files; found 0 files that may be streams and 1 ELF files",
            alone("node", built("npm"), "[]", program(), status=1), "an ELF file alone")
    with open(archive("tar"), "rb") as file:
        tar = file.read()
    matches(r"cut.tar: byte \d+: expected \d+ bytes of a file, found \d+", alone("node", built("npm"), "[]", write("cut.tar", tar[:len(tar) // 2]), status=1), "a tar that ends early")
    matches(r"bad.tar: byte 0: expected the header", alone("node", built("npm"), "[]", write("bad.tar", b"x" * 4096), status=1), "no tar")
    check(alone("node", built("npm"), "[]", write("bad.zip", b"PK" + b"x" * 4096), status=1), "no zip")
    matches("unknown option '--no-such'", alone("node", built("npm"), "[]", bundle(), "--no-such", status=1), "an option")


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A web space: files, and no special headers."""

    def log_message(self, *_):
        pass


@functools.cache
def space():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=built("site")))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/"


def shown(way, title, trace, *paths, options=()):
    """The page shows what was given, and its answers are those of the command."""
    titles, *lines = alone(way, need("chromium"), space(), json.dumps(QUESTIONS), *paths)
    titles = json.loads(titles)
    equal(titles["title"], title, "title")
    about = ask(trace, {"query": "about"}, status=1 if options else 0, options=options)[0]
    matches(rf"^{about['instructions']:,} instructions, 1 hart".replace(",", "\u202f", 1), titles["lead"], "lead")
    matches("Call stack", titles["panel"], "panel")
    same(lines, trace, *options)


@case("Chromium, without a server: a .zip is shown, its answers are those of the command, nothing is asked from elsewhere", "chromium")
@case("Chromium: a .zip is dropped on the page", "dropped")
def in_browser(way):
    shown(way, "story.ntrace", bundle(), archive("zip"))


@case("Chromium: the folder of a bundle is dropped on the page")
def folder_in_browser():
    shown("dropped", "story.ntrace", bundle(), bundle())


@case("Chromium: a stream and its ELF file are opened; an ELF file alone is refused with the reason", "chromium")
@case("Chromium: a stream and its ELF file are dropped; an ELF file alone is refused with the reason", "dropped")
def stream_in_browser(way):
    stream, options = damaged()
    words = [word for word in options if word.startswith("--")]
    shown(way, os.path.basename(stream), stream, stream, program(), *words, options=options)
    matches("expected a bundle", alone(way, need("chromium"), space(), "[]", program(), status=1), "an ELF file alone")


@case("the page with its engine has less than 4 MB, and no path of the machine")
def size():
    total = 0
    for folder, _, names in os.walk(built("site")):
        for name in names:
            with open(os.path.join(folder, name), "rb") as file:
                content = file.read()
            total += len(content)
            check(ROOT.encode() not in content and os.path.expanduser("~").encode() + b"/" not in content, f"{name} has a path of this machine")
    check(total < 4 << 20, f"{total} bytes")


@case("npm pack gives the same bytes again")
def packed():
    digests = []
    for number in "12":
        folder = os.path.join(scratch(), "pack" + number)
        os.makedirs(folder)
        subprocess.run([need("npm"), "pack", "--silent", "--pack-destination", folder], cwd=built("npm"), check=True, stdout=subprocess.DEVNULL)
        (name,) = os.listdir(folder)
        with open(os.path.join(folder, name), "rb") as file, open(built(name), "rb") as first:
            digests += [hashlib.sha256(file.read()).hexdigest(), hashlib.sha256(first.read()).hexdigest()]
        with tarfile.open(os.path.join(folder, name)) as archive_file:
            equal(sorted(archive_file.getnames()), [f"package/{file}" for file in ("LICENSE", "README.md", "engine.wasm", "index.d.ts", "index.js", "package.json", "worker.js")], "files")
    equal(len(set(digests)), 1, "number of different packages")


main()
