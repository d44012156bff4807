/* What the messages of a stream show when they are read with certain parameters. For infer.c. */
#ifndef NTR_INFER_SCAN_H
#define NTR_INFER_SCAN_H

#include <ntrace/bytes.h>
#include <ntrace/message.h>

typedef struct ntr_scan {
    uint64_t messages, defects;
    uint64_t tcode[64];       /* messages of each */
    uint64_t unusual;             /* fields with reserved values, flow of sources that never started, ... */
    uint64_t stamped_syncs, syncs, stamped_others, others;
    uint64_t steps;           /* relative times, other than 0, after an absolute one */
    uint64_t backward_xors;   /*   that run backwards if TSTAMP is an exclusive or */
    uint64_t summed_syncs;    /* absolute times after such steps */
    uint64_t backward_sums;   /*   that run backwards if TSTAMP is a difference (or when a narrow counter wraps) */
    uint64_t latest;          /* greatest absolute time */
    uint64_t counts_of_runs;  /* ResourceFull RCODE 8 and 9 */
    uint64_t history;         /* messages that only HTM has */
    uint64_t stop_without_history; /* ProgTraceCorrelation with CDF 0 */
    uint64_t wide_icnt;       /* I-CNT wider than N-Trace 1.0 allows */
    uint64_t closed_signs;    /* addresses that end in a zero MDO after a set top bit: only MSB extension does that */
    uint64_t open_signs;      /* addresses whose top bit sent is set */
    uint64_t fixed_48;        /* full addresses that fill 48 bits with the sign */
    uint64_t high_addresses;  /* full addresses above 32 bits */
} ntr_scan;

/* Messages with a TCODE of this set (bit i: TCODE i). */
uint64_t ntr_scan_count(const ntr_scan *scan, uint64_t tcodes);

/* Read at most `stream`. */
void ntr_scan_stream(const ntr_params *params, ntr_bytes stream, bool mid_stream, ntr_scan *scan);

#endif
