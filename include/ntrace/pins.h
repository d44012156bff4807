/* Pins: recordings of a trace port, made by a logic analyser or a simulator.
 *
 * Conversion between a recording and the beats of a transport. Value Change Dump (VCD) is read and written. Files
 * of raw samples are read. VCD output has one 1-bit wire per pin: TRC_CLK and TRC_DATA[0] upwards. */
#ifndef NTRACE_PINS_H
#define NTRACE_PINS_H

#include <ntrace/config.h>
#include <ntrace/transport.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- writing ------------------------------------------------------------------------------------- */

typedef ntr_status (*ntr_text_sink)(void *user, const char *text, size_t size);

typedef struct ntr_vcd_writer ntr_vcd_writer;

typedef struct ntr_vcd_writer_options {
    size_t size;          /* sizeof(ntr_vcd_writer_options) */
    uint32_t beat_time;   /* duration of a beat in nanoseconds, even; 0 means 20 */
    bool clock_center;    /* put the edges of TRC_CLK in the middle of a beat (trPibClkCenter) */
    ntr_text_sink sink;   /* required */
    void *user;           /* first argument of `sink` */
    const ntr_allocator *allocator; /* NULL: malloc and free */
} ntr_vcd_writer_options;

NTR_DEFINE_CONFIG_INIT(ntr_vcd_writer_options)

/* Makes a writer and writes the VCD header to the sink. Errors: NTR_E_MEMORY, NTR_E_INVALID (argument, or the
 * transport has no pins), NTR_E_RANGE (`beat_time` is not even), those of the sink. */
NTR_API ntr_status ntr_vcd_writer_new(const ntr_transport *transport, const ntr_vcd_writer_options *options,
                                      ntr_vcd_writer **out);
NTR_API void ntr_vcd_writer_free(ntr_vcd_writer *writer);

/* Errors: as the sink. */
NTR_API ntr_status ntr_vcd_writer_put(ntr_vcd_writer *writer, const uint16_t *beats, size_t count);
NTR_API ntr_status ntr_vcd_writer_finish(ntr_vcd_writer *writer);

/* ---- reading ------------------------------------------------------------------------------------- */

#define NTR_PINS_MAX 16

typedef struct ntr_pin_reader ntr_pin_reader;

typedef enum ntr_pin_format {
    NTR_PINS_VCD,     /* text */
    NTR_PINS_SAMPLES, /* samples of ceil(channels / 8) bytes; channel 0 is bit 0 of the first byte */
} ntr_pin_format;

typedef struct ntr_pin_options {
    size_t size;              /* sizeof(ntr_pin_options) */
    uint8_t format;           /* ntr_pin_format */
    bool clock_center;        /* sample data at the edges of TRC_CLK; otherwise use the data value that was
                        * stable for the longest time between two edges */
    uint8_t channels;         /* NTR_PINS_SAMPLES: number of channels, 1 to 64 */
    /* Names of wires (VCD) or channel numbers such as "3" (samples). NULL selects the default. VCD: TRC_CLK, and
     * TRC_DATA[i] or a vector TRC_DATA; the only wire of a serial recording may have any name. Samples: data on
     * channel 0 upwards, followed by the clock. */
    const char *clock;
    const char *data[NTR_PINS_MAX];
    uint64_t beat_time;       /* serial: duration of a beat in ticks or samples; 0: measured from the first edges */
    ntr_beat_sink sink;       /* required */
    void *user;               /* first argument of `sink` */
    const ntr_allocator *allocator; /* NULL: malloc and free */
} ntr_pin_options;

NTR_DEFINE_CONFIG_INIT(ntr_pin_options)

/* Makes a reader. `options` is copied; its strings must stay valid until ntr_pin_reader_free. Errors: NTR_E_MEMORY,
 * NTR_E_INVALID (argument, or the transport has no pins), NTR_E_RANGE, NTR_E_NAME (no such channel). */
NTR_API ntr_status ntr_pin_reader_new(const ntr_transport *transport, const ntr_pin_options *options,
                                      ntr_pin_reader **out);
NTR_API void ntr_pin_reader_free(ntr_pin_reader *reader);

/* Reads the next part of the file. ntr_pin_reader_error describes the error.
 * Errors: those of the sink; NTR_E_FORMAT; NTR_E_NAME (a wire is missing). */
NTR_API ntr_status ntr_pin_reader_feed(ntr_pin_reader *reader, const uint8_t *data, size_t size);
NTR_API ntr_status ntr_pin_reader_finish(ntr_pin_reader *reader);

/* Returns a description such as "line 12: no wire TRC_CLK", or "" when there was no error. */
NTR_API const char *ntr_pin_reader_error(const ntr_pin_reader *reader);

#ifdef __cplusplus
}
#endif
#endif
