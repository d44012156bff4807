/* Prints every instruction that a trace reports: source, privilege mode, address, instruction bits, time.
 *
 *     instructions PROGRAM.elf TRACE.nex
 *
 * TRACE.nex is a plain N-Trace 1.0 stream without SRC and timestamps; ntr_params has what is different for others. */
#include <ntrace/ntrace.h>

#include <inttypes.h>
#include <stdio.h>

enum { EVENTS = 256, BYTES = 1 << 16 };

static void print_span(ntr_instructions *instructions, const ntr_event *span) {
    ntr_instruction i;
    ntr_status status;
    ntr_instructions_begin(instructions, span);
    while ((status = ntr_instructions_next(instructions, &i)) == NTR_OK) {
        char mode = span->context.prv > 3 ? '?' : "US?M"[span->context.prv];
        printf("%u %c 0x%08" PRIx64 " %0*" PRIx64, span->src, mode, i.address, 2 * i.insn.size, i.bits);
        if (span->flags & NTR_EVENT_TIME) printf(" t=%" PRIu64, span->time);
        printf("\n");
    }
    if (status < 0) fprintf(stderr, "span at 0x%" PRIx64 ": %s\n", span->address, ntr_status_text(status));
}

static ntr_status print_events(ntr_decoder *decoder, ntr_instructions *instructions) {
    static ntr_event events[EVENTS];
    ntr_status status = NTR_OK;
    while (status == NTR_OK) {
        size_t count;
        status = ntr_decoder_read(decoder, events, EVENTS, &count);
        for (size_t i = 0; i < count; i++) {
            if (events[i].kind == NTR_EVENT_SPAN) print_span(instructions, &events[i]);
            if (events[i].kind == NTR_EVENT_GAP)
                fprintf(stderr, "gap at byte %" PRIu64 ": %s\n", events[i].offset,
                        ntr_status_text((ntr_status)events[i].reason));
        }
    }
    return status; /* NTR_NEED_MORE, NTR_END or an error */
}

int main(int argc, char **argv) {
    static uint8_t bytes[BYTES];
    FILE *trace = argc == 3 ? fopen(argv[2], "rb") : NULL;
    if (!trace) return fprintf(stderr, "usage: instructions PROGRAM.elf TRACE.nex\n"), 2;

    ntr_program *program;
    ntr_program_new(NULL, &program);
    if (ntr_program_add_elf(program, argv[1], NULL) != NTR_OK)
        return fprintf(stderr, "%s\n", ntr_program_error(program)), 1;
    ntr_decoder_config config;
    ntr_decoder_config_init(&config);
    config.program = program;
    ntr_decoder *decoder;
    ntr_instructions *instructions;
    if (ntr_decoder_new(&config, &decoder) || ntr_instructions_new(program, NULL, &instructions)) return 1;

    ntr_status status = NTR_NEED_MORE;
    while (status == NTR_NEED_MORE) {
        size_t size = fread(bytes, 1, sizeof bytes, trace);
        ntr_decoder_feed(decoder, bytes, size, size < sizeof bytes);
        status = print_events(decoder, instructions);
    }
    ntr_instructions_free(instructions);
    ntr_decoder_free(decoder);
    ntr_program_free(program);
    fclose(trace);
    return status == NTR_END ? 0 : 1;
}
