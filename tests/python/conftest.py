"""Traces for the tests: recorded streams of real programs (bench/real_streams), and what the command answers about them."""
import json
import os
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RECORDED = os.path.join(ROOT, "bench", "real_streams")
CORPUS = os.path.join(os.environ.get("NTRACE_SHARED", os.path.join(os.path.dirname(ROOT), "shared")), "corpus", "refcode")
NAMES = ["bash", "cc1", "lua", "node", "perl", "python", "sqlite", "xz", "z3"] if os.environ.get("NTRACE_TEST_LONG") else ["gawk", "go"]


def pytest_generate_tests(metafunc):
    if "recorded" in metafunc.fixturenames:
        metafunc.parametrize("recorded", NAMES, indirect=True)


class Recorded:
    """A stream, its ELF file and its parameters, for the package and for the command."""

    def __init__(self, stream, elf, options):
        self.stream, self.elf, self.options = str(stream), str(elf), options
        self.params = {}
        for at, word in enumerate(options):
            if word.startswith("--"):
                value = options[at + 1] if at + 1 < len(options) and not options[at + 1].startswith("--") else "on"
                self.params[word[2:].replace("-", "_")] = value
        self.src = int(self.params.pop("src", 0))
        self.stream_options = [word for name, value in self.params.items() for word in
                               ([f"--{name.replace('_', '-')}"] + ([value] if value != "on" else []))]

    def command(self, *words):
        done = subprocess.run([os.environ["NTRACE"], words[0], self.stream, "-e", self.elf, *self.options, *words[1:]],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert done.returncode in (0, 1), done.stderr
        return done.stdout

    def rows(self, *words):
        return [json.loads(line) for line in self.command(*words, "--format", "jsonl").splitlines()]


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("recorded")


def unpack(name, folder):
    place = folder / name
    if not place.exists():
        subprocess.run(["zstd", "-dqf", os.path.join(RECORDED, name + ".zst"), "-o", place], check=True)
    return place


def recorded_of(name, folder):
    with open(os.path.join(RECORDED, "streams.json"), encoding="utf-8") as file:
        options = json.load(file)[name]["options"]
    return Recorded(os.path.join(RECORDED, name + ".nex.zst"), unpack(name + ".elf", folder), options)


@pytest.fixture(scope="session")
def recorded(request, folder):
    return recorded_of(request.param, folder)


@pytest.fixture(scope="session")
def gawk(folder):
    return recorded_of("gawk", folder)


@pytest.fixture
def trace(recorded):
    import ntrace
    return ntrace.open(recorded.stream, elf=recorded.elf, **recorded.params)
