/* Decodes a trace and prints the functions that were executed, in order, and the gaps.
 *
 *     decode PROGRAM.elf TRACE.nex
 *
 * TRACE.nex is a plain N-Trace 1.0 stream without SRC; ntr_params has what is different for others. */
#include <ntrace/ntrace.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { EVENTS = 256, BYTES = 1 << 16 };

/* Prints the function at the span's address when it is another one than before. */
static void print_function(const ntr_program *program, const ntr_event *span) {
    static const char *last;
    ntr_symbol symbol;
    const char *name = "?";
    if (ntr_program_symbol(program, ntr_place_at(&span->context, span->offset, span->address), &symbol) == NTR_OK)
        name = symbol.name;
    if (last && strcmp(last, name) == 0) return;
    printf("0x%08" PRIx64 " %s\n", span->address, name);
    last = name;
}

static void print_event(const ntr_program *program, const ntr_event *event) {
    if (event->kind == NTR_EVENT_SPAN) print_function(program, event);
    if (event->kind == NTR_EVENT_GAP)
        printf("gap at byte %" PRIu64 ": %s\n", event->offset, ntr_status_text((ntr_status)event->reason));
}

/* Reads all events of the bytes fed so far. Returns NTR_NEED_MORE, NTR_END or an error. */
static ntr_status read_events(ntr_decoder *decoder, const ntr_program *program) {
    static ntr_event events[EVENTS];
    ntr_status status = NTR_OK;
    while (status == NTR_OK) {
        size_t count;
        status = ntr_decoder_read(decoder, events, EVENTS, &count);
        for (size_t i = 0; i < count; i++) print_event(program, &events[i]);
    }
    return status;
}

int main(int argc, char **argv) {
    static uint8_t bytes[BYTES];
    FILE *trace = argc == 3 ? fopen(argv[2], "rb") : NULL;
    if (!trace) return fprintf(stderr, "usage: decode PROGRAM.elf TRACE.nex\n"), 2;

    ntr_program *program;
    ntr_program_new(NULL, &program);
    if (ntr_program_add_elf(program, argv[1], NULL) != NTR_OK)
        return fprintf(stderr, "%s\n", ntr_program_error(program)), 1;
    ntr_decoder_config config;
    ntr_decoder_config_init(&config);
    config.program = program;
    ntr_decoder *decoder;
    ntr_decoder_new(&config, &decoder);
    ntr_status status = decoder ? NTR_NEED_MORE : NTR_E_MEMORY;
    while (status == NTR_NEED_MORE) {
        size_t size = fread(bytes, 1, sizeof bytes, trace);
        ntr_decoder_feed(decoder, bytes, size, size < sizeof bytes);
        status = read_events(decoder, program);
    }
    ntr_decoder_free(decoder);
    ntr_program_free(program);
    fclose(trace);
    return status == NTR_END ? 0 : 1;
}
