/* Functions that the harnesses share. A harness tests one kind of untrusted input: LLVMFuzzerTestOneInput must return 0
 * in bounded time and memory for any input, and the guarantees of the library must hold (fuzz_must). */
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

/* Checks a guarantee of the library; aborts with `what` when it does not hold. */
void fuzz_must(bool holds, const char *what);

/* Bytes for decisions; zeros after the end. */
typedef struct fuzz_tape {
    const uint8_t *bytes;
    size_t size, at;
} fuzz_tape;

uint8_t fuzz_byte(fuzz_tape *tape);
uint64_t fuzz_number(fuzz_tape *tape, unsigned bytes); /* little-endian */
ntr_bytes fuzz_rest(fuzz_tape *tape);

/* The next `size` bytes, or those that are left. */
ntr_bytes fuzz_part(fuzz_tape *tape, size_t size);

/* Parameters of a stream: 6 bytes. They always pass ntr_params_check. */
#define FUZZ_PARAMS_BYTES 6
#define FUZZ_HEAD         (FUZZ_PARAMS_BYTES + 4) /* parameters, then four bytes of options of the harness */
ntr_params fuzz_params(fuzz_tape *tape);

/* One of the transports: 1 byte. */
const ntr_transport *fuzz_transport(fuzz_tape *tape);

/* A small program: the address and kind (1 byte), the size (2 bytes), the code. */
ntr_program *fuzz_program(fuzz_tape *tape, unsigned xlen);
uint64_t fuzz_program_base(uint8_t kind, unsigned xlen);

/* Position in the input after the program at `place`. */
size_t fuzz_behind_program(const uint8_t *data, size_t size, size_t place);

/* A growing array of bytes. */
typedef struct fuzz_bytes {
    uint8_t *data;
    size_t size, capacity;
} fuzz_bytes;

/* A stream that begins with two messages of every source that SRC can name (up to 4,096), and goes on with `stream`:
 * more live sources than an input has bytes. They begin at the program, whose kind is `kind`. The caller frees `data`.
 */
fuzz_bytes fuzz_many_sources(const ntr_params *params, uint8_t kind, ntr_bytes stream);

/* The next line of an input. False: no more lines. */
bool fuzz_line(fuzz_tape *tape, const char **line, size_t *length);

/* Lines "name=value" for the encoder's options, up to the first line without "=" (which is consumed, too). */
void fuzz_encoder_options(fuzz_tape *tape, ntr_encoder_config *config);

void fuzz_add(fuzz_bytes *bytes, const void *data, size_t size);

/* As ntr_message_sink; `user` is a fuzz_bytes. */
ntr_status fuzz_take_message(void *user, const uint8_t *bytes, size_t size);

/* Decodes any stream to its end, with at most `reads` calls: in pieces of `piece` bytes (0: at once), and so many
 * events at a time as its lowest five bits say, 1 to 32. */
void fuzz_decode(const ntr_decoder_config *config, ntr_bytes stream, size_t piece, size_t reads);

/* Returns a path to a file with these bytes; the caller closes *fd. */
const char *fuzz_file(ntr_bytes bytes, int *fd);

/* Returns where the stream of messages begins in an input: the mutator changes messages after it (mutate.c). */
size_t fuzz_stream_at(const uint8_t *data, size_t size);

#endif
