/* Transports: how N-Trace bytes travel from a chip to a file. Reading and writing.
 *
 * A transport is a sequence of beats. A beat is the unit of one transfer step, 1 to 16 bits wide (trace-control
 * sections 8 and 9). A reader converts beats to N-Trace bytes, a writer converts N-Trace bytes to beats. Both
 * process their input as a stream: memory use is bounded by one message, two frames or one RAM buffer, and does
 * not depend on the length of the input. Damaged input does not make a call fail. The reader reports what was
 * lost as a note and continues. */
#ifndef NTRACE_TRANSPORT_H
#define NTRACE_TRANSPORT_H

#include <ntrace/config.h>
#include <ntrace/allocator.h>
#include <ntrace/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How a pin-level recording carries the beats. */
typedef enum ntr_lines {
    NTR_LINES_NONE = 0, /* bytes only: no pins */
    NTR_LINES_CLOCKED,  /* TRC_CLK and one TRC_DATA wire per bit of a beat */
    NTR_LINES_SERIAL,   /* one wire, the clock is recovered */
} ntr_lines;

typedef struct ntr_transport {
    const char *name;    /* "pib4" */
    const char *summary; /* one line of description */
    uint8_t beat_bits;   /* width of a beat: 1, 2, 4, 8 or 16 */
    uint8_t lines;       /* ntr_lines */
    uint8_t idle_level;  /* level of all data lines when idle: 0 or 1 */
    bool ids;            /* carries several streams, each identified by a 7-bit trace ID */
} ntr_transport;

/* Returns the transport with this name, or NULL when there is none. */
NTR_API const ntr_transport *ntr_transport_find(const char *name);

/* Returns the transport with this index, or NULL when `index` is past the last one. */
NTR_API const ntr_transport *ntr_transport_at(size_t index);

/* Trace IDs that do not identify a trace source (CoreSight architecture). */
enum {
    NTR_ATB_ID_NULL = 0x00,
    NTR_ATB_ID_RESERVED = 0x70, /* this value and all larger ones are reserved */
    NTR_ATB_ID_FLUSH = 0x7b,
    NTR_ATB_ID_TRIGGER = 0x7d,
};

/* ---- reading: beats to bytes -------------------------------------------------------------------- */

/* Where in the stream a recording begins. */
typedef enum ntr_begin {
    NTR_BEGIN_DEFAULT = 0, /* ANYWHERE for transports with pins, ALIGNED for the others */
    NTR_BEGIN_ALIGNED,     /* at the start of a message or frame */
    NTR_BEGIN_ANYWHERE,    /* at any beat; the reader finds the alignment */
} ntr_begin;

typedef enum ntr_note_kind {
    NTR_NOTE_ALIGNED = 0, /* the first complete message or frame after the start or after a loss begins at `position` */
    NTR_NOTE_LOST, /* alignment was lost at `position` because of `reason` */
    NTR_NOTE_CALIBRATION, /* the calibration pattern was repeated `value` times and ended at `position` */
    NTR_NOTE_TRIGGER, /* trigger; `value` is the trace ID of the source */
    NTR_NOTE_FLUSH, /* a flush completed; `value` is the data byte of the flush transfer */
    NTR_NOTE_ID, /* data with the reserved trace ID `value` was skipped; once per ID */
    NTR_NOTE_UNKNOWN_ID, /* `value` bytes were skipped because no trace ID had been received yet */
    NTR_NOTE_BARRIER, /* Linux's barrier of four full synchronization words: data before it are lost */
} ntr_note_kind;

typedef struct ntr_transport_note {
    uint8_t kind; /* ntr_note_kind */
    int16_t reason; /* NTR_NOTE_LOST: ntr_status; otherwise NTR_OK */
    uint64_t position; /* number of beats since the start of the recording */
    uint64_t value; /* depends on `kind` */
} ntr_transport_note;

/* Returns "aligned", "lost", ..., or NULL when `kind` is not an ntr_note_kind. Static storage. */
NTR_API const char *ntr_note_name(unsigned kind);

/* Receives bytes of the stream with trace ID `id` (0 when the transport has no trace IDs). Pin-level transports
 * deliver complete messages without idle bytes. The other transports deliver the bytes as received. A result other
 * than NTR_OK stops the reader; the call in progress returns that result. */
typedef ntr_status (*ntr_stream_sink)(void *user, unsigned id, const uint8_t *bytes, size_t size);
typedef void (*ntr_note_sink)(void *user, const ntr_transport_note *note);

/* The buffer of a RAM sink (trace-control section 6.4). Addresses are byte addresses. */
typedef struct ntr_ram_window {
    uint64_t start; /* trRamStart */
    uint64_t limit; /* trRamLimit: address of the last word */
    uint64_t wp; /* trRamWP without the wrap bit */
    uint8_t access; /* bytes per write: a power of two from 4 to 128; 0 means 4 */
    bool wrapped; /* trRamWP.trRamWrap */
} ntr_ram_window;

typedef struct ntr_transport_reader ntr_transport_reader;

typedef struct ntr_reader_options {
    size_t size; /* sizeof(ntr_reader_options) */
    uint8_t begin; /* ntr_begin */
    ntr_ram_window ram; /* "ram" only; the first byte of the image is the byte at `start` */
    ntr_stream_sink sink; /* required */
    ntr_note_sink note; /* may be NULL */
    void *user; /* first argument of `sink` and `note` */
    const ntr_allocator *allocator; /* NULL: malloc and free */
} ntr_reader_options;

NTR_DEFINE_CONFIG_INIT(ntr_reader_options)

/* Makes a reader. `options` is copied. Errors: NTR_E_MEMORY, NTR_E_INVALID (argument), NTR_E_RANGE (RAM window). */
NTR_API ntr_status ntr_transport_reader_new(const ntr_transport *transport, const ntr_reader_options *options,
                                            ntr_transport_reader **out);
NTR_API void ntr_transport_reader_free(ntr_transport_reader *reader);

/* Converts `count` beats. Errors: as the sink. */
NTR_API ntr_status ntr_transport_reader_feed(ntr_transport_reader *reader, const uint16_t *beats, size_t count);

/* Ends the input and delivers what is pending. Errors: as the sink. */
NTR_API ntr_status ntr_transport_reader_finish(ntr_transport_reader *reader);

/* ---- writing: bytes to beats -------------------------------------------------------------------- */

typedef ntr_status (*ntr_beat_sink)(void *user, const uint16_t *beats, size_t count);

typedef struct ntr_transport_writer ntr_transport_writer;

typedef struct ntr_writer_options {
    size_t size; /* sizeof(ntr_writer_options) */
    uint8_t atb_bytes; /* "atb": width of the bus in bytes: 1, 2, 4, 8 or 16; 0 means 4 */
    uint32_t sync_every; /* "coresight": frames between two full synchronization packets; "atb": transfers
                          * between two alignment marks; 0 means none */
    uint32_t idle_every; /* "pib1" to "pib4": an idle byte also after this many bytes without one; 0 means an
                          * idle byte only before synchronizing messages */
    ntr_ram_window ram; /* "ram" only: `start`, `limit`, and `wp` as the position of the first write */
    ntr_beat_sink sink; /* required */
    void *user; /* first argument of `sink` */
    const ntr_allocator *allocator; /* NULL: malloc and free */
} ntr_writer_options;

NTR_DEFINE_CONFIG_INIT(ntr_writer_options)

/* Makes a writer. `options` is copied. Errors: NTR_E_MEMORY, NTR_E_INVALID (argument), NTR_E_RANGE (width or RAM
 * window). */
NTR_API ntr_status ntr_transport_writer_new(const ntr_transport *transport, const ntr_writer_options *options,
                                            ntr_transport_writer **out);
NTR_API void ntr_transport_writer_free(ntr_transport_writer *writer);

/* Writes bytes of an N-Trace stream. A call may end inside a message. Idle bytes are dropped where the transport
 * does not need them. `id` is ignored when the transport has no trace IDs.
 * Errors: those of the sink; NTR_E_RANGE when `id` is a reserved trace ID. */
NTR_API ntr_status ntr_transport_writer_put(ntr_transport_writer *writer, unsigned id, const uint8_t *bytes,
                                            size_t size);

/* Makes the transport idle for `count` beats: pins at the idle level, frames with the null ID, ATB without
 * transfers. Errors: those of the sink; NTR_E_STATE inside a message when the transport cannot interrupt it. */
NTR_API ntr_status ntr_transport_writer_idle(ntr_transport_writer *writer, uint32_t count);

/* Sends the calibration pattern of the mode `times` times (trace-control section 8.6).
 * Errors: those of the sink; NTR_E_UNSUPPORTED when the transport has no pattern; NTR_E_STATE inside a message. */
NTR_API ntr_status ntr_transport_writer_calibrate(ntr_transport_writer *writer, uint32_t times);

/* Writes a trigger. Errors: those of the sink; NTR_E_UNSUPPORTED when the transport has no trace IDs. */
NTR_API ntr_status ntr_transport_writer_trigger(ntr_transport_writer *writer, unsigned id);

/* Ends the output: pads an incomplete frame, word or beat and writes it. Errors: as the sink. */
NTR_API ntr_status ntr_transport_writer_finish(ntr_transport_writer *writer);

/* Transport "ram", after ntr_transport_writer_finish: stores the final write pointer and wrap flag in *ram.
 * Errors: NTR_E_UNSUPPORTED for any other transport. */
NTR_API ntr_status ntr_transport_writer_ram(const ntr_transport_writer *writer, ntr_ram_window *ram);

/* ---- beats in files: packed, the first beat in the least significant bits ------------------------ */

/* Unpacks bytes to beats of 1, 2, 4, 8 or 16 bits. Returns the number of beats. `beats` needs space for
 * size * 8 / beat_bits elements, at least one. *held keeps the first byte of an incomplete 16-bit beat between
 * calls; set it to -1 before the first call. */
NTR_API size_t ntr_beats_unpack(unsigned beat_bits, int *held, const uint8_t *bytes, size_t size, uint16_t *beats);

/* Packs beats to bytes. Returns the number of bytes. `bytes` needs space for 2 * count + 1 elements. *held and
 * *held_bits keep an incomplete byte between calls; set both to 0 before the first call. */
NTR_API size_t ntr_beats_pack(unsigned beat_bits, unsigned *held, unsigned *held_bits, const uint16_t *beats,
                              size_t count, uint8_t *bytes);

/* ---- the two parts of a RAM sink's buffer, oldest data first -------------------------------------- */

typedef struct ntr_ram_part {
    uint64_t offset, size; /* in bytes; `offset` counts from trRamStart */
} ntr_ram_part;

/* Stores the two parts in the order in which they were written; parts[1] is empty when the buffer did not wrap.
 * Errors: NTR_E_RANGE when the window is inconsistent (alignment, order of addresses, 4 GiB or more). */
NTR_API ntr_status ntr_ram_parts(const ntr_ram_window *ram, ntr_ram_part parts[2]);

#ifdef __cplusplus
}
#endif
#endif
