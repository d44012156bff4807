#!/bin/bash -eu
# OSS-Fuzz: builds each harness of fuzz/ with the compiler and the flags of the environment, and gives it its seeds and the dictionary.
# CC, CFLAGS, LIB_FUZZING_ENGINE, SRC, OUT and WORK are set by OSS-Fuzz's base-builder; oss-fuzz/run_local sets them the same way.
source=$SRC/ntrace
meson setup "$WORK/ntrace" "$source" -Dfuzz=true -Dfuzz-engine="$LIB_FUZZING_ENGINE" -Ddefault_library=static -Dprefer_static=true -Db_lundef=false \
  -Dbuildtype=plain -Dtests=disabled -Dtools=enabled -Delf=enabled -Dzstd=enabled -Dqemu-plugin=disabled -Dmpi=disabled -Dllvm=disabled -Dclang=disabled \
  -Dncurses=disabled -Dsqlite=disabled -Dperfetto=disabled -Darchive=disabled -Dext2fs=disabled -Ddigests=disabled ${NTRACE_FUZZ_OPTIONS:-}
ninja -C "$WORK/ntrace" fuzzers
for program in "$WORK"/ntrace/fuzz/fuzz_*; do
  [ -f "$program" ] && [ -x "$program" ] || continue
  name=$(basename "$program")
  cp "$program" "$OUT/"
  seeds=$source/tests/corpus/fuzz/${name#fuzz_}
  [ ! -d "$seeds" ] || (cd "$seeds" && zip -q -r "$OUT/${name}_seed_corpus.zip" .)
  cp "$source/oss-fuzz/ntrace.dict" "$OUT/$name.dict"
done
