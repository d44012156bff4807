"""Counts of lines of a small source: by llvm-cov, of a program for this machine, and by `ntrace coverage`, of one for RISC-V."""
import json
import os
import re
import subprocess

from harness import Run, need

TARGET = ("--target=riscv64-linux-gnu", "-fuse-ld=lld-19", "-w", "-g", "-O0", "-static")
COUNTED = ("-instr-profile=native.profdata", "native")


def run(*command, cwd, env=None):
    return subprocess.run(command, cwd=cwd, env=env, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def from_llvm_cov(source, place):
    compiler = need("clang++-19" if source.endswith(".cc") else "clang-19")
    run(compiler, "-w", "-fprofile-instr-generate", "-fcoverage-mapping", source, "-o", "native", cwd=place)
    run("./native", cwd=place, env={**os.environ, "LLVM_PROFILE_FILE": "native.profraw"})
    run(need("llvm-profdata-19"), "merge", "native.profraw", "-o", "native.profdata", cwd=place)
    info = run(need("llvm-cov-19"), "export", "-format=lcov", *COUNTED, cwd=place)
    record = next(part for part in info.split("end_of_record") if re.search(rf"^SF:.*/{re.escape(source)}$", part, re.M))
    return {int(line): int(count) for line, count in re.findall(r"^DA:(\d+),(\d+)", record, re.M)}


def regions_of_llvm_cov(place):
    """After from_llvm_cov: the document that has the regions."""
    return json.loads(run("llvm-cov-19", "export", "-format=text", *COUNTED, cwd=place))


def document(place, *options):
    return json.loads(Run("coverage", "--to", "json", "--only", place, *options, os.path.join(place, "traced.ntrace")).out)


def trace(compiler, sources, place, *options):
    run(need(compiler), *options, *sources, "-o", "traced", cwd=place)
    Run("run", "-q", "-o", os.path.join(place, "traced.ntrace"), "--", os.path.join(place, "traced"))


def lines_of(answer, source):
    return {line["line"]: line["count"] for file in answer["files"] if file["file"].endswith("/" + source) for line in file["lines"]}
