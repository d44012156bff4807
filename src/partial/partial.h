/* State of an open partial. Private. */
#ifndef NTR_PARTIAL_PARTIAL_H
#define NTR_PARTIAL_PARTIAL_H

#include "partial/event_coder.h"
#include "partial/tables.h"

/* Where unpacking is: `run` events are predicted, then one follows that `what` describes. */
typedef struct ntr_partial_events_state {
    ntr_event_coder coder;
    uint64_t run, what;
    bool pending; /* that one was not read yet */
} ntr_partial_events_state;

struct ntr_partial {
    ntr_allocator own;
    const ntr_allocator *allocator;
    ntr_partial_tables tables;
    ntr_block_reader reader;
    ntr_partial_events_state events;
    char *name;      /* of the file */
    int file;        /* -1: bytes in memory */
    ntr_bytes bytes;
    size_t at;       /* position in `bytes` */
    char error[512];
};

void ntr_partial_fail(ntr_partial *partial, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Describes the error of the reader. Returns its status. */
ntr_status ntr_partial_reader_error(ntr_partial *partial);

#endif
