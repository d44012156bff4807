/* Statistics of the messages of a stream, read with given parameters. For infer.c. */
#ifndef NTR_INFER_SCAN_H
#define NTR_INFER_SCAN_H

#include <ntrace/bytes.h>
#include <ntrace/message.h>

/* Sizes of frames that are looked for: multiples of NTR_FRAME_UNIT bytes. */
enum { NTR_FRAME_UNIT = 64, NTR_FRAME_SIZES = 15 };

typedef struct ntr_scan {
    uint64_t messages, defects;
    uint64_t tcode[64];       /* number of messages by TCODE */
    /* messages with reserved values, or with flow before the first synchronizing message */
    uint64_t unusual;
    uint64_t stamped_syncs, syncs, stamped_others, others;
    uint64_t steps;           /* relative times other than 0 after an absolute one, */
    uint64_t backward_xors;   /* those that decrease if TSTAMP is an XOR */
    uint64_t summed_syncs;    /* absolute times after such relative times, */
    uint64_t backward_sums;   /* those that decrease if TSTAMP is a difference (or because a narrow counter wraps) */
    uint64_t wraps;           /* those of them that no reset explains; */
    uint64_t before_wraps, after_wraps; /* the lowest time before one and the highest time after one */
    uint64_t backward_absolutes; /* relative times that decrease if they are absolute */
    uint64_t strays;          /* bytes other than 0xff and 0x00 that end a message between messages */
    uint64_t own;             /* messages and values that the dialect has and N-Trace 1.0 does not */
    uint16_t crossed;         /* bit i: a message crosses a multiple of 64 * (i + 1) bytes */
    uint64_t contexts_0;      /* Ownership messages with FORMAT 0 and a context */
    uint64_t latest;          /* highest absolute time */
    uint64_t counts_of_runs;  /* ResourceFull RCODE 8 and 9 */
    uint64_t history;         /* messages that only HTM has */
    uint64_t stop_without_history; /* ProgTraceCorrelation with CDF 0 */
    uint64_t wide_icnt;       /* I-CNT wider than N-Trace 1.0 allows */
    /* addresses that end with a zero MDO after a set top bit: only MSB extension produces them */
    uint64_t closed_signs;
    uint64_t open_signs;      /* addresses whose highest transmitted bit is set */
    uint64_t fixed_48;        /* full addresses extended with the sign to 48 bits */
    uint64_t high_addresses;  /* full addresses above 32 bits */
} ntr_scan;

/* Returns the number of messages with a TCODE of the set (bit i: TCODE i). */
uint64_t ntr_scan_count(const ntr_scan *scan, uint64_t tcodes);

/* Read the messages of `stream`. `mid_stream`: it begins inside a message. */
void ntr_scan_stream(const ntr_params *params, ntr_bytes stream, bool mid_stream, ntr_scan *scan);

/* Returns how many bits behind TCODE, 12 at most, are the same in all messages, or, with 12, in all of each hart; 0:
 * too few messages, or too few kinds of them, say it. What is there without SRC is another field in each kind of
 * message. */
unsigned ntr_scan_same_bits(ntr_bytes stream, bool mid_stream);

#endif
