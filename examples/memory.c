/* Decodes a trace of code that is in no file: a callback supplies the memory, as a debugger or a simulator would.
 *
 *     memory ADDRESS CODE.bin TRACE.nex
 *
 * CODE.bin holds the bytes of memory from ADDRESS on. Prints the totals of the execution. */
#include <ntrace/ntrace.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 1 << 20 };

typedef struct memory {
    uint64_t base;
    size_t size;
    uint8_t bytes[BYTES];
} memory;

/* Copies up to `size` bytes from `address`; returns how many there are. */
static size_t read_memory(void *user, const ntr_context *context, uint64_t position, uint64_t address, uint8_t *out,
                          size_t size) {
    const memory *m = user;
    (void)context, (void)position; /* this memory is the same for every process, at all times */
    if (address < m->base || address - m->base >= m->size) return 0;
    size_t left = m->size - (size_t)(address - m->base);
    if (size > left) size = left;
    memcpy(out, m->bytes + (address - m->base), size);
    return size;
}

static size_t read_file(const char *path, uint8_t *bytes) {
    FILE *file = fopen(path, "rb");
    size_t size = file ? fread(bytes, 1, BYTES, file) : 0;
    if (file) fclose(file);
    return size;
}

int main(int argc, char **argv) {
    static memory code;
    static uint8_t trace[BYTES];
    if (argc != 4) return fprintf(stderr, "usage: memory ADDRESS CODE.bin TRACE.nex\n"), 2;
    code.base = strtoull(argv[1], NULL, 0);
    code.size = read_file(argv[2], code.bytes);
    size_t size = read_file(argv[3], trace);

    ntr_program *program;
    ntr_program_new(NULL, &program);
    ntr_program_set_reader(program, read_memory, &code);
    ntr_program_set_isa(program, 0); /* RV64 without extensions that change code; no ELF file says so */
    ntr_decoder_config config;
    ntr_decoder_config_init(&config);
    config.program = program;
    ntr_decoder *decoder;
    ntr_decoder_new(&config, &decoder);
    ntr_counts counts = {0};
    ntr_status status = decoder ? ntr_decoder_feed(decoder, trace, size, true) : NTR_E_MEMORY;
    if (status == NTR_OK) status = ntr_decoder_count(decoder, &counts);
    printf("%" PRIu64 " instructions, %" PRIu64 " branches, %" PRIu64 " gaps\n", counts.instructions, counts.branches,
           counts.gaps);
    ntr_decoder_free(decoder);
    ntr_program_free(program);
    return status == NTR_END ? 0 : 1;
}
