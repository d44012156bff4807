#!/bin/sh
# Writes what abidiff compares later versions with, for the version that is released: tests/abi/baseline.sh BUILD
set -eu
build=$(realpath "$1")
version=$(meson introspect --projectinfo "$build" | sed 's/.*"version": "\([^"]*\)".*/\1/')
cd "$(dirname "$0")"
mkdir -p "baselines/$version"
for name in libntrace libntrace-tools; do
  abidw --headers-dir ../../include --drop-private-types --no-show-locs --no-corpus-path --no-comp-dir-path \
    --no-parameter-names --out-file "baselines/$version/$name.abi" "$build/$name.so"
done
