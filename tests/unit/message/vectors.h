/* The specification's test vectors at message level: N-Trace 1.0 section 15, and docs/dialects.md. */
#ifndef NTR_TEST_VECTORS_H
#define NTR_TEST_VECTORS_H

#include <ntrace/message.h>
#include <stdlib.h>
#include <string.h>

typedef struct vector {
    const char *bytes; /* hexadecimal */
    const char *text;  /* name and fields */
    uint8_t src_bits;
    bool extend_addr;
    const char *dialect; /* NULL: N-Trace 1.0 */
    uint8_t ts_width;    /* not 0: TSTAMP has exactly this width */
} vector;

static const vector vectors[] = {
    /* 15.1 */
    {"70 D0 1D 1D F8 FF", "IndirectBranchHist BTYPE=0 ICNT=125 UADDR=0x7 HIST=0xffe"},
    /* 15.2 */
    {"08 C8 3B", "Ownership PROCESS=0x3b2"},
    {"08 33", "Ownership PROCESS=0xc"},
    /* 15.3 */
    {"24 0D 08 E0 7F", "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x1fe02"},
    {"10 21 D8 7B", "IndirectBranch BTYPE=0 ICNT=2 UADDR=0x7b6"},
    {"10 21 D0 93", "IndirectBranch BTYPE=0 ICNT=2 UADDR=0x934"},
    /* 15.4 */
    {"24 0D 00 0B", "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80"},
    {"0C 0F", "DirectBranch ICNT=3"},
    {"84 00 07", "ProgTraceCorrelation EVCODE=0 CDF=0 ICNT=1"},
    {"84 40 11 0F", "ProgTraceCorrelation EVCODE=0 CDF=1 ICNT=4 HIST=0x3"},
    {"0C 1F", "DirectBranch ICNT=7"},
    {"84 00 0B", "ProgTraceCorrelation EVCODE=0 CDF=0 ICNT=2"},
    {"84 40 25 17", "ProgTraceCorrelation EVCODE=0 CDF=1 ICNT=9 HIST=0x5"},
    {"84 00 2B", "ProgTraceCorrelation EVCODE=0 CDF=0 ICNT=10"},
    {"84 40 29 13", "ProgTraceCorrelation EVCODE=0 CDF=1 ICNT=10 HIST=0x4"},
    /* 15.5 */
    {"6C 40 0B", "ResourceFull RCODE=0 RDATA0=0x9"},
    {"84 40 15 0B", "ProgTraceCorrelation EVCODE=0 CDF=1 ICNT=5 HIST=0x2"},
    {"24 50 09 24 0B", "ProgTraceSync SYNC=4 ICNT=9 FADDR=0x89"},
    {"84 00 17", "ProgTraceCorrelation EVCODE=0 CDF=0 ICNT=5"},
    /* 15.6 */
    {"6C 44 54 54 54 54 57", "ResourceFull RCODE=1 RDATA0=0x55555555"},
    {"6C 48 54 54 54 54 55 2B", "ResourceFull RCODE=2 RDATA0=0x55555555 RDATA1=10"},
    {"6C 48 05 58 0B", "ResourceFull RCODE=2 RDATA0=0x5 RDATA1=150"},
    /* 15.7, whole messages */
    {"24 15 E8 8C 04 00 00 FC FC FC FC FC 1F", "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x7fffffffc00018fa"},
    {"24 15 E8 8C 04 00 00 FF", "ProgTraceSync SYNC=5 ICNT=0 FADDR=0xfc00018fa:36", .extend_addr = true},
    /* 15.8 */
    {"10 41 00 1B", "IndirectBranch BTYPE=0 ICNT=4 UADDR=0x180"},
    /* 15.9 */
    {"10 19 00 4B", "IndirectBranch BTYPE=2 ICNT=1 UADDR=0x480"},
    {"10 0D 00 0B", "IndirectBranch BTYPE=3 ICNT=0 UADDR=0x80"},
    {"20 00 07", "Error ETYPE=0 ECODE=0x4"},
    {"20 03", "Error ETYPE=0 ECODE=0x0"},
    {"24 1D 00 0B", "ProgTraceSync SYNC=7 ICNT=0 FADDR=0x80"},
    {"78 0F", "RepeatBranch BCNT=3"},
    {"78 A0 3F", "RepeatBranch BCNT=1000"},
    {"30 08 15 00 13", "IndirectBranchSync SYNC=2 BTYPE=0 ICNT=5 FADDR=0x100"},
    {"74 08 15 00 11 0F", "IndirectBranchHistSync SYNC=2 BTYPE=0 ICNT=5 FADDR=0x100 HIST=0x3"},
    {"2C C9 00 13", "DirectBranchSync SYNC=2 ICNT=3 FADDR=0x100"},
    {"74 18 0D 0C 09 0B", "IndirectBranchHistSync SYNC=6 BTYPE=0 ICNT=3 FADDR=0x83 HIST=0x2"},
    {"84 50 01 07", "ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=0 HIST=0x1"},
    {"84 10 03", "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=0"},
    {"84 00 03", "ProgTraceCorrelation EVCODE=0 CDF=0 ICNT=0"},
    {"24 0D 00 09 14 34 4B", "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80 TSTAMP=74565"},
    {"0C 0D 1F", "DirectBranch ICNT=3 TSTAMP=7"},
    {"0C 0D 03", "DirectBranch ICNT=3 TSTAMP=0"},
    {"84 00 05 00 07", "ProgTraceCorrelation EVCODE=0 CDF=0 ICNT=1 TSTAMP=64"},
    {"24 34 01 00 0B", "ProgTraceSync SRC=1 SYNC=3 ICNT=0 FADDR=0x80", .src_bits = 2},
    {"0C 37", "DirectBranch SRC=1 ICNT=3", .src_bits = 2},
    {"70 14 21 01 0B", "IndirectBranchHist SRC=5 BTYPE=0 ICNT=8 UADDR=0x0 HIST=0x2", .src_bits = 4},
    {"6C 84 40 0B", "ResourceFull SRC=33 RCODE=0 RDATA0=0x9", .src_bits = 6},
    {"74 F0 A8 08 49 00 00 00 00 00 05 0F",
     "IndirectBranchHistSync SRC=2748 SYNC=2 BTYPE=0 ICNT=18 FADDR=0x40000000 HIST=0x3", .src_bits = 12},
    {"74 FC FC C8 FC FC FC 3D FC FC FC FC FC FC FC FC FC FC 1D FC FC FC FC FC 0D FC FC FC FC FC FC FC FC FC FC 3F",
     "IndirectBranchHistSync SRC=4095 SYNC=2 BTYPE=3 ICNT=4194303 FADDR=0x7fffffffffffffff HIST=0xffffffff "
     "TSTAMP=18446744073709551615",
     .src_bits = 12},
    /* 15.10, the messages that are not above */
    {"24 05 00 0B", "ProgTraceSync SYNC=1 ICNT=0 FADDR=0x80"},
    {"10 61 00 1B", "IndirectBranch BTYPE=0 ICNT=6 UADDR=0x180"},
    {"70 81 01 0B", "IndirectBranchHist BTYPE=0 ICNT=8 UADDR=0x0 HIST=0x2"},
    {"70 81 00 19 0F", "IndirectBranchHist BTYPE=0 ICNT=8 UADDR=0x180 HIST=0x3"},
    {"84 00 13", "ProgTraceCorrelation EVCODE=0 CDF=0 ICNT=4"},
    {"10 81 03", "IndirectBranch BTYPE=0 ICNT=8 UADDR=0x0"},
    {"0C 13", "DirectBranch ICNT=4"},
    {"10 41 00 1B", "IndirectBranch BTYPE=0 ICNT=4 UADDR=0x180"},
    {"6C C4 FC FC FC FC FF", "ResourceFull RCODE=1 RDATA0=0xffffffff"},
    {"70 20 9D 00 19 0B", "IndirectBranchHist BTYPE=0 ICNT=626 UADDR=0x180 HIST=0x2"},
    {"6C C8 FC FC FC FC FD 17", "ResourceFull RCODE=2 RDATA0=0xffffffff RDATA1=5"},
    {"70 A1 11 0B", "IndirectBranchHist BTYPE=0 ICNT=10 UADDR=0x4 HIST=0x2"},
    {"10 31 10 13", "IndirectBranch BTYPE=0 ICNT=3 UADDR=0x104"},
    {"70 71 0D 0F", "IndirectBranchHist BTYPE=0 ICNT=7 UADDR=0x3 HIST=0x3"},
    {"10 21 10 13", "IndirectBranch BTYPE=0 ICNT=2 UADDR=0x104"},
    {"70 D1 00 11 0B", "IndirectBranchHist BTYPE=0 ICNT=13 UADDR=0x100 HIST=0x2"},
    {"84 40 2D 0F", "ProgTraceCorrelation EVCODE=0 CDF=1 ICNT=11 HIST=0x3"},
    {"10 D1 00 13", "IndirectBranch BTYPE=0 ICNT=13 UADDR=0x100"},
    {"0C 1B", "DirectBranch ICNT=6"},

    /* docs/dialects.md 2.4 */
    {"24 0D 70 10 00 20 81 6C 58 3C 13", "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x2020011c TSTAMP=1111451",
     .dialect = "sifive-pre1.0"},
    {"84 00 05 E3", "ProgTraceCorrelation EVCODE=0 CDF=0 ICNT=1 TSTAMP=56", .dialect = "sifive-pre1.0"},
    {"24 0D 74 10 00 20 81 90 58 3C 13", "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x2020011d TSTAMP=1111460",
     .dialect = "sifive-pre1.0"},
    {"6C 40 21 78 2C 7F", "ResourceFull RCODE=0 RDATA0=0x21 TSTAMP=127710", .dialect = "sifive-pre1.0"},
    {"6C 00 21 78 0F", "ResourceFull RCODE=0 RDATA0=0x20 TSTAMP=222", .dialect = "sifive-pre1.0"},
    {"6C 64 1D E4 07", "ResourceFull RCODE=9 RDATA0=0x1d TSTAMP=121", .dialect = "sifive-pre1.0"},
    {"6C 24 13", "ResourceFull RCODE=9 RDATA0=0x10", .dialect = "sifive-pre1.0"},
    {"6C A0 17", "ResourceFull RCODE=8 RDATA0=0x16", .dialect = "sifive-pre1.0"},
    {"6C C4 FC FC FC FC A3", "ResourceFull RCODE=1 RDATA0=0xa3ffffff", .dialect = "sifive-pre1.0"},
    {"1C 01 20 54 18 6C B0 07", "DataAcquisition IDTAG=0x0 DQDATA=0x6c6c6548", .dialect = "sifive-pre1.0"},
    {"1C 09 84 A3", "DataAcquisition IDTAG=0x2 DQDATA=0xa21", .dialect = "sifive-pre1.0"},
    {"1C 0D 2B", "DataAcquisition IDTAG=0x3 DQDATA=0xa", .dialect = "sifive-pre1.0"},
    {"8C 40 14 38 00 20 81 0B", "InCircuitTraceWS CKSRC=0 CKDF=1 CKDATA0=0x20200385 CKDATA1=0x2",
     .dialect = "sifive-pre1.0"},
    {"88 3C 2B", "InCircuitTrace CKSRC=15 CKDF=0 CKDATA0=0xa", .dialect = "sifive-pre1.0"},
    {"88 24 4B", "InCircuitTrace CKSRC=9 CKDF=0 CKDATA0=0x12", .dialect = "sifive-pre1.0"},
    {"88 64 C9 F7", "InCircuitTrace CKSRC=9 CKDF=1 CKDATA0=0x32 CKDATA1=0x3d", .dialect = "sifive-pre1.0"},
    {"88 78 49 03", "InCircuitTrace CKSRC=14 CKDF=1 CKDATA0=0x12 CKDATA1=0x0", .dialect = "sifive-pre1.0"},
    {"88 70 1C 14 00 1D 03", "InCircuitTrace CKSRC=12 CKDF=1 CKDATA0=0x1c0147 CKDATA1=0x0", .dialect = "sifive-pre1.0"},
    {"8C 00 01 44 37", "InCircuitTraceWS CKSRC=0 CKDF=0 CKDATA0=0x0 TSTAMP=849", .dialect = "sifive-pre1.0"},
    {"1C 01 D0 30 FC 60 FC 05 0F", "DataAcquisition IDTAG=0x0 DQDATA=0x7f63f334 TSTAMP=3", .dialect = "sifive-pre1.0"},
    {"24 50 01 A0 B8 A0 FC 0C AC A8 2B", "ProgTraceSync SRC=0 SYNC=5 ICNT=0 FADDR=0x2aaac3fe8ba8", .src_bits = 2,
     .dialect = "p550"},
    {"08 20 08 5F", "Ownership SRC=0 PROCESS=0x5c22", .src_bits = 2, .dialect = "p550"},
    {"08 33", "Ownership SRC=0 PROCESS=0x3", .src_bits = 2, .dialect = "p550"},
    {"08 43", "Ownership SRC=0 PROCESS=0x4", .src_bits = 2, .dialect = "p550"},
    {"6C 00 47", "ResourceFull SRC=0 RCODE=0 RDATA0=0x11", .src_bits = 2, .dialect = "p550"},
    {"70 51 88 A8 08 E8 1C 00 00 C1 0F", "IndirectBranchHist SRC=0 BTYPE=1 ICNT=1 UADDR=0xc00007e82aa2 HIST=0x3",
     .src_bits = 2, .dialect = "p550"},
    {"74 20 41 AC E4 54 00 00 FC FC FD 0B",
     "IndirectBranchHistSync SRC=0 SYNC=2 BTYPE=0 ICNT=4 FADDR=0xffffc0015e6b HIST=0x2", .src_bits = 2,
     .dialect = "p550"},
    {"74 24 41 2C A0 04 00 00 05 0D 3C 74 A0 A0 CC FC 13",
     "IndirectBranchHistSync SRC=1 SYNC=2 BTYPE=0 ICNT=4 FADDR=0x40001a0b HIST=0x3 TSTAMP=343389931343", .src_bits = 2,
     .dialect = "p550"},
    {"84 44 F3", "ProgTraceCorrelation SRC=1 EVCODE=4 CDF=0 ICNT=15", .src_bits = 2, .dialect = "p550"},
    /* docs/dialects.md section 6 */
    {"6C 40 F0 FC FC FC FC 27", "ResourceFull SRC=0 RCODE=1 RDATA0=0x9fffffff", .src_bits = 4, .dialect = "tt-dfd"},
    {"70 81 EC 25 07", "IndirectBranchHist SRC=0 BTYPE=2 ICNT=0 UADDR=0x27b HIST=0x1", .src_bits = 4,
     .dialect = "tt-dfd"},
    {"70 80 01 EC 25 07", "IndirectBranchHist SRC=0 BTYPE=2 ICNT=0:6 UADDR=0x27b HIST=0x1", .src_bits = 4,
     .dialect = "tt-dfd"},
    {"70 A5 EC 25 05 88 00 07", "IndirectBranchHist SRC=9 BTYPE=2 ICNT=0 UADDR=0x27b HIST=0x1 TSTAMP=4130",
     .src_bits = 4, .dialect = "tt-dfd"},
    {"08 00 2C 0B", "Ownership SRC=0 PROCESS=0x22c", .src_bits = 4, .dialect = "tt-dfd"},
    {"E0 00 03", "TrapValue SRC=0 VTYPE=0 TVAL=0x0", .src_bits = 4, .dialect = "tt-dfd"},
    {"E0 24 01 44 00 07", "TrapValue SRC=9 VTYPE=0 TVAL=0x0 TSTAMP=4113", .src_bits = 4, .dialect = "tt-dfd"},
    {"70 0C 0D 80 05 0B", "IndirectBranchHist SRC=3 BTYPE=0 ICNT=3 UADDR=0x60 HIST=0x2", .src_bits = 4,
     .dialect = "tt-dfd"},
    {"78 CC 0F", "RepeatBranch SRC=3 BCNT=15", .src_bits = 4, .dialect = "tt-dfd"},
    {"78 4C 0F", "RepeatBranch SRC=3 BCNT=13", .src_bits = 4, .dialect = "tt-dfd"},
    {"74 00 C4 00 21 10 84 00 00 00 05 2F",
     "IndirectBranchHistSync SRC=0 SYNC=4 BTYPE=0 ICNT=2051 FADDR=0x40000844 HIST=0xb", .src_bits = 4,
     .dialect = "tt-dfd"},
    {"84 00 15 07", "ProgTraceCorrelation SRC=0 EVCODE=4 CDF=1 ICNT=0 HIST=0x1", .src_bits = 4, .dialect = "tt-dfd"},
    {"84 00 19 07", "ProgTraceCorrelation SRC=0 EVCODE=8 CDF=1 ICNT=0 HIST=0x1", .src_bits = 4, .dialect = "tt-dfd"},
    {"70 80 2D 24 19 1B", "IndirectBranchHist SRC=0 BTYPE=2 ICNT=11 UADDR=0x189 HIST=0x6", .src_bits = 4,
     .dialect = "tt-dfd"},
    {"74 80 C4 5D 10 84 00 00 00 05 44 18 4F",
     "IndirectBranchHistSync SRC=0 SYNC=6 BTYPE=0 ICNT=95 FADDR=0x40000844 HIST=0x13191", .src_bits = 4,
     .dialect = "tt-dfd"},
    {"20 00 40 03", "Error SRC=0 ETYPE=0 ECODE=0x4:10", .src_bits = 4, .dialect = "tt-dfd"},
    {"24 40 01 00 00 00 00 00 07", "ProgTraceSync SRC=0 SYNC=1 ICNT=0 FADDR=0x40000000", .src_bits = 4,
     .dialect = "tt-dfd"},
    {"08 00 0F", "Ownership SRC=0 PROCESS=0xc", .src_bits = 4, .dialect = "tt-dfd"},
    /* docs/dialects.md section 7, typed from the layout: SRC has 6 bits or is inhibited; EVCODE 5, 8 and 15; full
       addresses */
    {"84 14 54 25 17", "ProgTraceCorrelation SRC=5 EVCODE=5 CDF=1 ICNT=9 HIST=0x5", .src_bits = 6, .dialect = "andes"},
    {"84 FC 20 0B", "ProgTraceCorrelation SRC=63 EVCODE=8 CDF=0 ICNT=2", .src_bits = 6, .dialect = "andes"},
    {"84 3C 0F", "ProgTraceCorrelation EVCODE=15 CDF=0 ICNT=3", .dialect = "andes"},
    {"70 14 31 8C 10 00 00 00 05 2F", "IndirectBranchHist SRC=5 BTYPE=0 ICNT=3 UADDR=0x40000123 HIST=0xb",
     .src_bits = 6, .dialect = "andes"},
    {"10 00 19 00 1F", "IndirectBranch SRC=0 BTYPE=2 ICNT=1 UADDR=0x1c0", .src_bits = 6, .dialect = "andes"},
    {"08 84 BC FC 7F", "Ownership SRC=33 PROCESS=0x1ffef", .src_bits = 6, .dialect = "andes"},
    {"24 44 15 40 88 04 00 00 FC FC FC FC FC 1D 90 07",
     "ProgTraceSync SRC=17 SYNC=5 ICNT=0 FADDR=0x7fffffffc0001890 TSTAMP=100", .src_bits = 6, .dialect = "andes"},
    /* docs/dialects.md section 8: TSTAMP of the full width; BTM with RepeatBranch; Ownership with FORMAT 0 */
    {"24 05 00 09 14 00 03", "ProgTraceSync SYNC=1 ICNT=0 FADDR=0x80 TSTAMP=5", .dialect = "xuantie", .ts_width = 16},
    {"10 21 D8 79 D0 20 04 00 00 00 03", "IndirectBranch BTYPE=0 ICNT=2 UADDR=0x7b6 TSTAMP=4660", .dialect = "xuantie",
     .ts_width = 40},
    {"78 0F", "RepeatBranch BCNT=3", .dialect = "xuantie"},
    {"08 B3", "Ownership PROCESS=0x2c", .dialect = "xuantie"},
    {"6C 48 05 58 0B", "ResourceFull RCODE=2 RDATA0=0x5 RDATA1=150", .dialect = "xuantie"},
    /* docs/dialects.md section 9: SRC has 2 bits */
    {"10 08 05 00 1B", "IndirectBranch SRC=2 BTYPE=0 ICNT=4 UADDR=0x180", .src_bits = 2, .dialect = "microblaze-v"},
    {"0C 77", "DirectBranch SRC=1 ICNT=7", .src_bits = 2, .dialect = "microblaze-v"},
    {"70 4C 7D 1D F8 FF", "IndirectBranchHist SRC=3 BTYPE=0 ICNT=125 UADDR=0x7 HIST=0xffe", .src_bits = 2,
     .dialect = "microblaze-v"},
    {"84 48 F1 E7", "ProgTraceCorrelation SRC=2 EVCODE=4 CDF=0 ICNT=15 TSTAMP=57", .src_bits = 2,
     .dialect = "microblaze-v"},
    {"20 04 03", "Error SRC=1 ETYPE=0 ECODE=0x0", .src_bits = 2, .dialect = "microblaze-v"},
    /* docs/dialects.md section 12 */
    {"04 E0 64 14 34 4B", "DeviceID DEVID=0x12345678", .dialect = "ctte"},
    {"1C F0 A8 20 78 9C 64 54 44 D0 30 88 10 07", "DataAcquisition DQTAG=0xabc DQDATA=0x1122334455667788",
     .dialect = "ctte"},
    {"1C 14 00 00 00 04 00 00 08 00 00 00 00 00 F0 3C 00 00 80 00 00 00 00 00 73",
     "DataAcquisition DQTAG=0x5 DQDATA=0x80001000:64 DQDATA1=0x80000ff0:64 DQDATA2=0x7", .dialect = "ctte"},
    {"7C A0 3D 19 07", "RepeatInstruction RCNT=1000 ICNT=6 HIST=0x1", .dialect = "ctte"},
    {"80 C9 09 00 09 0D 27", "RepeatInstructionSync SYNC=2 RCNT=3 ICNT=2 FADDR=0x80 HIST=0x3 TSTAMP=9",
     .dialect = "ctte"},
    {"E0 A1 0F", "BranchPredict BCNT=40 TSTAMP=3", .dialect = "ctte"},
    {"E4 C1 95 17", "JumpTargetCache BTYPE=0 ICNT=12 JIDX=37 HIST=0x5", .dialect = "ctte"},
    {"E8 C4 FC FC FC 3D C4 00 A0 89 D1 18 09 04 A1 58 08 07",
     "Config CFGVER=1 CAPS=0xffffff ENAB=0x8a8031 P0=0x34 P1=0x86 P2=0xa01 P3=0x1096", .dialect = "ctte"},
    {"E8 4C 01 01 D1 19 01 03", "Config SRC=3 CFGVER=1 CAPS=0x0 ENAB=0x0 P0=0x34 P1=0x6 P2=0x0 P3=0x0", .src_bits = 4,
     .dialect = "ctte"},
    {"34 20 00 00 08 40 00 11 07", "DataWriteSync DSZ=8 ELSZ=0 DADDR=0x80201000 DDATA=0x1", .dialect = "ctte"},
    {"14 00 85 40 20 0C 54 D8 84 A4 B8 70 EC 7F",
     "DataWrite DSZ=0 ELSZ=4 DADDR=0x10 DDATA=0xfedcba9876543210 DDATA1=0x1", .dialect = "ctte"},
    {"3C 04 00 23", "Watchpoint WPHIT=0x8001", .dialect = "ctte"},
    {"20 87", "Error ETYPE=1 ECODE=0x2", .dialect = "ctte"},
};

enum { VECTORS = sizeof vectors / sizeof vectors[0] };

static inline ntr_params vector_params(const vector *v) {
    ntr_params params;
    ntr_params_init(&params, v->dialect ? ntr_dialect_find(v->dialect) : NULL);
    params.src_bits = v->src_bits;
    params.extend_addr = v->extend_addr;
    if (v->ts_width) params.ts_width = v->ts_width;
    params.ts_fixed = v->ts_width != 0;
    return params;
}

/* Hexadecimal text to bytes. */
static inline size_t from_hex(const char *text, uint8_t *out, size_t capacity) {
    size_t size = 0;
    for (char *end; size < capacity; text = end) {
        unsigned long byte = strtoul(text, &end, 16);
        if (end == text) break;
        out[size++] = (uint8_t)byte;
    }
    return size;
}

#endif
