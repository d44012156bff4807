#!/bin/sh
# Writes what abidiff compares later versions with, for the version that is released: tests/abi/baseline.sh BUILD [FOLDER]
# FOLDER: where they go; default: baselines/VERSION beside this script.
set -eu
build=$(realpath "$1")
version=$(meson introspect --projectinfo "$build" | sed 's/.*"version": "\([^"]*\)".*/\1/')
folder=${2:-$(dirname "$0")/baselines/$version}
mkdir -p "$folder"
folder=$(realpath "$folder")
cd "$(dirname "$0")"
for name in libntrace libntrace-tools; do
  abidw --headers-dir ../../include --drop-private-types --no-show-locs --no-corpus-path --no-comp-dir-path \
    --no-parameter-names --out-file "$folder/$name.abi" "$build/$name.so"
done
