/* Where a stream can be cut: a look at each message's first byte, and into those that later pieces depend on. */
#ifndef NTR_PARALLEL_CUTTER_H
#define NTR_PARALLEL_CUTTER_H

#include <ntrace/clock.h>
#include <ntrace/decoder.h>

#include "flow/baton.h"

typedef struct ntr_cutter {
    const ntr_decoder_config *config;
    ntr_params params;
    ntr_decoder *scratch; /* for making guesses */
    uint64_t offset;      /* of the stream, behind the last look */
    bool inside;          /* in the middle of a message, or of what is none */
    bool seeking;         /* ... that the stream begins with (mid_stream) */
    bool stopped;         /* the source starts anew with the next synchronizing message */
    bool many;            /* sources; nothing can be guessed */
    bool has_source;
    uint16_t source;
    ntr_baton_guess known;
    uint64_t shift;       /* messages that there were besides those it saw */
} ntr_cutter;

/* Errors: as ntr_decoder_new. */
ntr_status ntr_cutter_start(ntr_cutter *cutter, const ntr_decoder_config *config);
void ntr_cutter_end(ntr_cutter *cutter);

/* Look at what follows, up to the end of the first synchronizing message that ends at data[least] or later, if there
 * is one. Returns how far it looked; the rest is the beginning of a message. *guess is what is known behind the
 * synchronizing message; NULL when there was none or nothing can be guessed. Errors (*status): NTR_E_MEMORY. */
size_t ntr_cutter_look(ntr_cutter *cutter, const uint8_t *data, size_t size, size_t least, ntr_baton **guess,
                       ntr_status *status);

/* Pass bytes without looking: the stream is cut in the middle of a message. */
void ntr_cutter_pass(ntr_cutter *cutter, size_t size);

#endif
