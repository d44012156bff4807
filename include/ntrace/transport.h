/* Transports: how N-Trace bytes travel from a chip to a file, in both directions.
 *
 * A transport is a stream of beats: what crosses in one step, 1 to 16 bits wide (trace-control sections
 * 8 and 9). A reader turns beats into N-Trace bytes, a writer the reverse. Both stream: memory is
 * bounded by one message (two frames, one RAM buffer), whatever the length of the input. A damaged
 * input is never an error of a call: what was lost is told by a note, and reading goes on. */
#ifndef NTRACE_TRANSPORT_H
#define NTRACE_TRANSPORT_H

#include <ntrace/allocator.h>
#include <ntrace/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the beats are on a pin-level recording. */
typedef enum ntr_lines {
    NTR_LINES_NONE = 0, /* bytes only: no pins */
    NTR_LINES_CLOCKED,  /* TRC_CLK and one TRC_DATA wire per bit of a beat */
    NTR_LINES_SERIAL,   /* one wire, the clock is recovered */
} ntr_lines;

typedef struct ntr_transport {
    const char *name;    /* "pib4" */
    const char *summary; /* one line for people */
    uint8_t beat_bits;   /* 1, 2, 4, 8 or 16 */
    uint8_t lines;       /* ntr_lines */
    uint8_t rest;        /* beat the lines rest at, all bits alike: 0 or 1 */
    bool ids;            /* carries several streams, each with a 7-bit trace ID */
} ntr_transport;

/* The transport of this name, or NULL. */
NTR_API const ntr_transport *ntr_transport_find(const char *name);

/* The index-th transport, or NULL past the last. */
NTR_API const ntr_transport *ntr_transport_at(size_t index);

/* Trace IDs that are not trace (CoreSight architecture). */
enum {
    NTR_ATB_ID_NULL = 0x00,
    NTR_ATB_ID_RESERVED = 0x70, /* this one and all above */
    NTR_ATB_ID_FLUSH = 0x7b,
    NTR_ATB_ID_TRIGGER = 0x7d,
};

/* ---- reading: beats to bytes -------------------------------------------------------------------- */

/* How a recording begins. */
typedef enum ntr_begin {
    NTR_BEGIN_DEFAULT = 0, /* pins: anywhere; bytes: aligned */
    NTR_BEGIN_ALIGNED,     /* between two messages (frames) */
    NTR_BEGIN_ANYWHERE,    /* alignment has to be found */
} ntr_begin;

typedef enum ntr_note_kind {
    NTR_NOTE_ALIGNED = 0, /* the first whole message (frame) after the start or a loss begins at `position` */
    NTR_NOTE_LOST,        /* alignment was lost at `position`: `reason` */
    NTR_NOTE_CALIBRATION, /* the calibration pattern came `value` times and ended at `position` */
    NTR_NOTE_TRIGGER,     /* trigger, `value` = trace ID of its source */
    NTR_NOTE_FLUSH,       /* a flush was completed, `value` = the byte that tells so */
    NTR_NOTE_ID,          /* data with the reserved trace ID `value` was passed over */
    NTR_NOTE_UNKNOWN_ID,  /* `value` bytes were passed over because no ID had been seen yet */
} ntr_note_kind;

typedef struct ntr_transport_note {
    uint8_t kind;      /* ntr_note_kind */
    int16_t reason;    /* LOST: ntr_status */
    uint64_t position; /* in beats from the start */
    uint64_t value;
} ntr_transport_note;

/* "aligned", "lost", ...; NULL for a value that is none. Static storage. */
NTR_API const char *ntr_note_name(unsigned kind);

/* Take bytes of the stream with this ID (0 where the transport has no IDs). Pin-level transports give
 * whole messages without idle; the others bytes as they came. Anything but NTR_OK is given back by the
 * call that made them. */
typedef ntr_status (*ntr_stream_sink)(void *user, unsigned id, const uint8_t *bytes, size_t size);
typedef void (*ntr_note_sink)(void *user, const ntr_transport_note *note);

/* A RAM sink's buffer (trace-control section 6.4). Addresses are byte addresses. */
typedef struct ntr_ram_window {
    uint64_t start; /* trRamStart */
    uint64_t limit; /* trRamLimit: the last word's address */
    uint64_t wp;    /* trRamWP without its wrap bit */
    uint8_t access; /* bytes written at once, a power of two from 4; 0: 4 */
    bool wrapped;   /* trRamWrap */
} ntr_ram_window;

typedef struct ntr_transport_reader ntr_transport_reader;

typedef struct ntr_reader_options {
    size_t size;            /* sizeof(ntr_reader_options) */
    uint8_t begin;          /* ntr_begin */
    ntr_ram_window ram;     /* "ram" only; the image's first byte is the one at `start` */
    ntr_stream_sink sink;   /* needed */
    ntr_note_sink note;     /* may be NULL */
    void *user;             /* of both */
    const ntr_allocator *allocator;
} ntr_reader_options;

/* Errors (*status, may be NULL): NTR_E_MEMORY, NTR_E_INVALID, NTR_E_RANGE (RAM window). */
NTR_API ntr_transport_reader *ntr_transport_reader_new(const ntr_transport *transport,
                                                       const ntr_reader_options *options, ntr_status *status);
NTR_API void ntr_transport_reader_free(ntr_transport_reader *reader);

/* Errors: the sink's. */
NTR_API ntr_status ntr_transport_reader_push(ntr_transport_reader *reader, const uint16_t *beats, size_t count);

/* Nothing follows. Errors: the sink's. */
NTR_API ntr_status ntr_transport_reader_end(ntr_transport_reader *reader);

/* ---- writing: bytes to beats -------------------------------------------------------------------- */

typedef ntr_status (*ntr_beat_sink)(void *user, const uint16_t *beats, size_t count);

typedef struct ntr_transport_writer ntr_transport_writer;

typedef struct ntr_writer_options {
    size_t size;          /* sizeof(ntr_writer_options) */
    uint8_t atb_bytes;    /* width of the ATB: 1, 2, 4, 8 or 16; 0: 4 */
    uint32_t sync_every;  /* "coresight": a full synchronization packet every so many frames; "atb": an
                           * alignment mark every so many transfers; 0: none */
    uint32_t idle_every;  /* "pib1" to "pib4": idle also when so many bytes went without; 0: only before
                           * synchronizing messages */
    ntr_ram_window ram;   /* "ram" only: `start`, `limit` and where writing begins */
    ntr_beat_sink sink;   /* needed */
    void *user;
    const ntr_allocator *allocator;
} ntr_writer_options;

/* Errors (*status, may be NULL): NTR_E_MEMORY, NTR_E_INVALID, NTR_E_RANGE. */
NTR_API ntr_transport_writer *ntr_transport_writer_new(const ntr_transport *transport,
                                                       const ntr_writer_options *options, ntr_status *status);
NTR_API void ntr_transport_writer_free(ntr_transport_writer *writer);

/* Write bytes of an N-Trace stream; a call may end inside a message. Idle bytes are left out where the
 * transport does not need them. Errors: the sink's; NTR_E_RANGE (a trace ID that is none). */
NTR_API ntr_status ntr_transport_writer_put(ntr_transport_writer *writer, unsigned id, const uint8_t *bytes,
                                            size_t size);

/* Let the transport rest for `count` beats: pins idle, frames hold the null ID, ATB has no transfer.
 * Errors: the sink's; NTR_E_STATE inside a message of a transport that cannot interrupt it. */
NTR_API ntr_status ntr_transport_writer_idle(ntr_transport_writer *writer, uint32_t count);

/* Send the calibration pattern of the mode `times` times (trace-control section 8.6). Errors: the sink's;
 * NTR_E_UNSUPPORTED when the transport has none; NTR_E_STATE inside a message. */
NTR_API ntr_status ntr_transport_writer_calibrate(ntr_transport_writer *writer, uint32_t times);

/* Mark a trigger in the stream. Errors: the sink's; NTR_E_UNSUPPORTED for transports without IDs. */
NTR_API ntr_status ntr_transport_writer_trigger(ntr_transport_writer *writer, unsigned id);

/* Nothing follows: fill up what is begun (frame, word, beat) and hand it on. Errors: the sink's. */
NTR_API ntr_status ntr_transport_writer_end(ntr_transport_writer *writer);

/* "ram", after the end: where the buffer stands. Errors: NTR_E_UNSUPPORTED. */
NTR_API ntr_status ntr_transport_writer_ram(const ntr_transport_writer *writer, ntr_ram_window *ram);

/* ---- beats in files: packed, the first beat in the lowest bits ---------------------------------- */

/* Unpack bytes into beats of 1, 2, 4, 8 or 16 bits; `beats` has room for size * 8 / beat_bits, at least 1.
 * `*held` keeps the odd byte of 16-bit beats from call to call (start it with -1). Returns their number. */
NTR_API size_t ntr_beats_unpack(unsigned beat_bits, int *held, const uint8_t *bytes, size_t size, uint16_t *beats);

/* The reverse. `*held` and `*held_bits` keep an unfinished byte (start both with 0). `bytes` has room for
 * 2 * count + 1. Returns the number of bytes. */
NTR_API size_t ntr_beats_pack(unsigned beat_bits, unsigned *held, unsigned *held_bits, const uint16_t *beats,
                              size_t count, uint8_t *bytes);

/* ---- the two parts of a RAM sink's buffer, oldest first ------------------------------------------ */

typedef struct ntr_ram_part {
    uint64_t offset, size; /* in bytes from trRamStart */
} ntr_ram_part;

/* Errors: NTR_E_RANGE when the window contradicts itself (alignment, order). */
NTR_API ntr_status ntr_ram_parts(const ntr_ram_window *ram, ntr_ram_part parts[2]);

#ifdef __cplusplus
}
#endif
#endif
