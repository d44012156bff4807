/* Which dialect a stream has. For infer.c. */
#ifndef NTR_INFER_DIALECTS_H
#define NTR_INFER_DIALECTS_H

#include "infer/choice.h"

typedef enum ntr_times { NTR_TIMES_UNKNOWN, NTR_TIMES_SUMS, NTR_TIMES_XORS, NTR_TIMES_ABSOLUTE } ntr_times;

/* Returns whether TSTAMP is a difference, an XOR or absolute in messages that do not synchronize. */
ntr_times ntr_classify_times(const ntr_scan *scan);

/* Returns whether the stream is one of tt-dfd as far as signs say; *src_bits is its width of SRC. */
bool ntr_infer_signs_of_tt_dfd(const ntr_search *search, unsigned *src_bits);

/* Chooses the dialect: by the program, and where several dialects explain the execution, by the messages. */
void ntr_infer_dialect(ntr_search *search);

#endif
