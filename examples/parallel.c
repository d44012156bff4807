/* Decodes a trace with many threads and prints the address and the length of every span, in the order of the stream.
 *
 *     parallel PROGRAM.elf TRACE.nex
 *
 * The threads turn events into text; the text is delivered in the order of the stream, by one thread at a time. */
#include <ntrace/ntrace.h>

#include <inttypes.h>
#include <stdio.h>

enum { BYTES = 1 << 20, LINE_MAX = 64 };

/* Called in a thread for the events of one chunk of the stream. */
static ntr_status print_spans(void *user, ntr_chunk *chunk, const ntr_event *events, size_t count) {
    (void)user;
    for (size_t i = 0; i < count; i++) {
        char line[LINE_MAX];
        if (events[i].kind != NTR_EVENT_SPAN) continue;
        int size = snprintf(line, sizeof line, "0x%08" PRIx64 " %u\n", events[i].address, events[i].instructions);
        ntr_status status = ntr_chunk_put(chunk, 0, line, (size_t)size);
        if (status != NTR_OK) return status;
    }
    return NTR_OK;
}

/* Called for what the threads made, in the order of the stream. */
static ntr_status write_text(void *user, unsigned what, const void *data, size_t size) {
    (void)what;
    return fwrite(data, 1, size, user) == size ? NTR_OK : NTR_E_IO;
}

int main(int argc, char **argv) {
    static uint8_t bytes[BYTES];
    FILE *trace = argc == 3 ? fopen(argv[2], "rb") : NULL;
    if (!trace) return fprintf(stderr, "usage: parallel PROGRAM.elf TRACE.nex\n"), 2;

    ntr_program *program;
    ntr_program_new(NULL, &program);
    if (ntr_program_add_elf(program, argv[1], NULL) != NTR_OK)
        return fprintf(stderr, "%s\n", ntr_program_error(program)), 1;
    ntr_decoder_config decoder;
    ntr_decoder_config_init(&decoder);
    decoder.program = program;
    ntr_parallel_config config;
    ntr_parallel_config_init(&config);
    config.decoder = &decoder;
    config.work.events = print_spans;
    config.work.deliver = write_text;
    config.work.user = stdout;
    ntr_parallel *parallel;
    ntr_parallel_new(&config, &parallel);

    ntr_status status = parallel ? NTR_NEED_MORE : NTR_E_MEMORY;
    while (status == NTR_NEED_MORE) {
        size_t size = fread(bytes, 1, sizeof bytes, trace);
        status = ntr_parallel_feed(parallel, bytes, size, size < sizeof bytes);
    }
    ntr_parallel_free(parallel);
    ntr_program_free(program);
    fclose(trace);
    return status == NTR_END ? 0 : 1;
}
