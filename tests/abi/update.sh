#!/bin/sh
# Writes the baselines from a build: tests/abi/update.sh BUILD
set -eu
build=$(realpath "$1")
cd "$(dirname "$0")"
for name in libntrace libntrace-tools; do
  abidw --headers-dir ../../include --drop-private-types --no-show-locs --no-corpus-path --no-comp-dir-path \
    --no-parameter-names --out-file "$name.abi" "$build/$name.so"
done
