/* What the harnesses share. A harness is one door of the library for bytes of anybody: LLVMFuzzerTestOneInput must return
 * 0, in bounded time and memory, whatever it is given, and the library's promises must hold (fuzz_must). */
#ifndef NTRACE_FUZZ_H
#define NTRACE_FUZZ_H

#include <ntrace/decoder.h>
#include <ntrace/encoder.h>
#include <ntrace/event.h>
#include <ntrace/params.h>
#include <ntrace/program.h>
#include <ntrace/transport.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A promise of the library; aborts with `what` when it is broken. */
void fuzz_must(bool holds, const char *what);

/* Bytes to decide with; zeros when they are used up. */
typedef struct fuzz_tape {
    const uint8_t *bytes;
    size_t size, at;
} fuzz_tape;

uint8_t fuzz_byte(fuzz_tape *tape);
uint64_t fuzz_number(fuzz_tape *tape, unsigned bytes); /* little-endian */
ntr_bytes fuzz_rest(fuzz_tape *tape);

/* The next `size` bytes, or what there is. */
ntr_bytes fuzz_part(fuzz_tape *tape, size_t size);

/* Parameters of a stream: 6 bytes. Always such as ntr_params_check takes. */
#define FUZZ_PARAMS_BYTES 6
#define FUZZ_HEAD (FUZZ_PARAMS_BYTES + 4) /* parameters, then four bytes that steer the harness */
ntr_params fuzz_params(fuzz_tape *tape);

/* One of the transports: 1 byte. */
const ntr_transport *fuzz_transport(fuzz_tape *tape);

/* A small program: the place and kind (1 byte), the size (2 bytes), the code. */
ntr_program *fuzz_program(fuzz_tape *tape, unsigned xlen);
uint64_t fuzz_program_base(uint8_t kind, unsigned xlen);

/* Where the input goes on behind a program that stands at `place`. */
size_t fuzz_behind_program(const uint8_t *data, size_t size, size_t place);

/* Text of an input as lines. False: no more. */
bool fuzz_line(fuzz_tape *tape, const char **line, size_t *length);

/* Lines "name=value" for the encoder's options, up to the first line without "=" (which is taken, too). */
void fuzz_encoder_options(fuzz_tape *tape, ntr_encoder_config *config);

/* Bytes that came out of something. */
typedef struct fuzz_bytes {
    uint8_t *data;
    size_t size, room;
} fuzz_bytes;

void fuzz_add(fuzz_bytes *bytes, const void *data, size_t size);

/* As ntr_message_sink; `user` is a fuzz_bytes. */
ntr_status fuzz_take_message(void *user, const uint8_t *bytes, size_t size);

/* The decoder must make its way through whatever this is; gives the events of at most `reads` calls up. */
void fuzz_decode(const ntr_decoder_config *config, ntr_bytes stream, size_t piece, size_t reads);

/* A path that leads to a file with these bytes; *fd is to be closed. */
const char *fuzz_file(ntr_bytes bytes, int *fd);

/* Where the stream of messages begins in an input: the mutator changes messages behind it (mutate.c). */
size_t fuzz_stream_at(const uint8_t *data, size_t size);

#endif
