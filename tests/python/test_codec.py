"""Messages and the encoder."""
import json
import os
import subprocess

import ntrace
import pytest


def test_messages_and_back(gawk):
    stream = subprocess.run(["zstd", "-dqc", gawk.stream], stdout=subprocess.PIPE, check=True).stdout
    params = dict(gawk.params)
    found = list(ntrace.messages(stream, **params))
    done = subprocess.run([os.environ["NTRACE"], "dump", gawk.stream, *gawk.stream_options, "--format", "jsonl"],
                          stdout=subprocess.PIPE, text=True, check=True)
    assert found == [json.loads(line) for line in done.stdout.splitlines()]
    assert b"".join(ntrace.assemble(message, **params) for message in found) == stream


def test_assemble_refuses():
    with pytest.raises(ntrace.Error, match="column 14") as error:
        ntrace.assemble("DirectBranch COLOUR=4")
    assert error.value.status == "NTR_E_NAME"


@pytest.mark.parametrize("options", [{}, {"mode": "btm"}, {"implicit_return": "full", "repeated_history": None}, {"best": None}])
def test_encoder(gawk, tmp_path, options):
    numpy = pytest.importorskip("numpy", reason="numpy")
    trace = ntrace.open(gawk.stream, elf=gawk.elf, **gawk.params)
    pcs = numpy.concatenate(list(trace.pcs()))[:200000]
    place, listed = tmp_path / "x.nex", tmp_path / "pcs"
    place.write_bytes(ntrace.encode(gawk.elf, pcs, **options))
    listed.write_text("".join(f"{pc:#x}\n" for pc in pcs.tolist()))
    words = []
    for name, value in options.items():
        words += [f"--{name.replace('_', '-')}"] + ([value] if value else [])
    command = [os.environ["NTRACE"], "encode", "--elf", gawk.elf, "--pc", str(listed), *words]
    assert place.read_bytes() == subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout


def test_encoder_refuses(gawk):
    with pytest.raises(ntrace.Error, match="no program image at 0x2"):
        ntrace.encode(gawk.elf, [2, 4])
    with pytest.raises(ntrace.Error, match="hist-bits"):
        ntrace.Encoder(gawk.elf, hist_bits=99)
