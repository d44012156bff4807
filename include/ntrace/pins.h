/* Pins: recordings of a trace port by a logic analyser or a simulator, and for waveform viewers.
 *
 * Between a recording and a transport's beats. Value Change Dump (VCD) is read and written, files of raw
 * samples are read. Written VCD has one 1-bit wire per pin: TRC_CLK and TRC_DATA[0] up. */
#ifndef NTRACE_PINS_H
#define NTRACE_PINS_H

#include <ntrace/transport.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- writing ------------------------------------------------------------------------------------- */

typedef ntr_status (*ntr_text_sink)(void *user, const char *text, size_t size);

typedef struct ntr_vcd_writer ntr_vcd_writer;

typedef struct ntr_vcd_writer_options {
    size_t size;          /* sizeof(ntr_vcd_writer_options) */
    uint32_t beat_time;   /* nanoseconds of a beat, even; 0: 20 */
    bool clock_center;    /* TRC_CLK edges in the middle of a beat (trPibClkCenter) */
    ntr_text_sink sink;   /* needed */
    void *user;
    const ntr_allocator *allocator;
} ntr_vcd_writer_options;

/* Errors (*status, may be NULL): NTR_E_MEMORY, NTR_E_INVALID (also: the transport has no pins),
 * NTR_E_RANGE. */
NTR_API ntr_vcd_writer *ntr_vcd_writer_new(const ntr_transport *transport, const ntr_vcd_writer_options *options,
                                           ntr_status *status);
NTR_API void ntr_vcd_writer_free(ntr_vcd_writer *writer);

/* Errors: the sink's. */
NTR_API ntr_status ntr_vcd_writer_put(ntr_vcd_writer *writer, const uint16_t *beats, size_t count);
NTR_API ntr_status ntr_vcd_writer_end(ntr_vcd_writer *writer);

/* ---- reading ------------------------------------------------------------------------------------- */

#define NTR_PINS_MAX 16

typedef struct ntr_pin_reader ntr_pin_reader;

typedef enum ntr_pin_format {
    NTR_PINS_VCD,     /* text */
    NTR_PINS_SAMPLES, /* `channels` levels at a time: ceil(channels / 8) bytes, channel 0 in bit 0 of the first */
} ntr_pin_format;

typedef struct ntr_pin_options {
    size_t size;              /* sizeof(ntr_pin_options) */
    uint8_t format;           /* ntr_pin_format */
    bool clock_center;        /* take data at the edges of TRC_CLK; else what stood longest between two edges */
    uint8_t channels;         /* samples: 1..64 */
    /* Wires by name (VCD) or channel number ("3", samples). NULL: TRC_CLK and TRC_DATA[i], or a vector
     * TRC_DATA; a serial wire may have any name when it is the only one. In samples: channel 0 and up, the
     * clock after the data. */
    const char *clock;
    const char *data[NTR_PINS_MAX];
    uint64_t beat_time;       /* serial: ticks (samples) of a beat; 0: found from the first edges */
    ntr_beat_sink sink;       /* needed */
    void *user;
    const ntr_allocator *allocator;
} ntr_pin_options;

/* Errors (*status, may be NULL): NTR_E_MEMORY, NTR_E_INVALID, NTR_E_RANGE, NTR_E_NAME (a channel that is
 * none). */
NTR_API ntr_pin_reader *ntr_pin_reader_new(const ntr_transport *transport, const ntr_pin_options *options,
                                           ntr_status *status);
NTR_API void ntr_pin_reader_free(ntr_pin_reader *reader);

/* Read the next part of the file. Errors: the sink's; NTR_E_FORMAT and NTR_E_NAME (a wire is missing):
 * ntr_pin_reader_error tells more. */
NTR_API ntr_status ntr_pin_reader_push(ntr_pin_reader *reader, const uint8_t *data, size_t size);
NTR_API ntr_status ntr_pin_reader_end(ntr_pin_reader *reader);

/* "line 12: no wire TRC_CLK"; "" when nothing is wrong. */
NTR_API const char *ntr_pin_reader_error(const ntr_pin_reader *reader);

/* Serial: ticks of a beat in 1/256, as given or found; 0: not known yet. */
NTR_API uint64_t ntr_pin_reader_beat_time(const ntr_pin_reader *reader);

#ifdef __cplusplus
}
#endif
#endif
