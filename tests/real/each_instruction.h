/* Decodes a whole bundle and hands each instruction and each problem to the program that includes this: for comparisons
 * of a trace with what a plugin of QEMU has seen. */
#ifndef NTRACE_TESTS_REAL_EACH_INSTRUCTION_H
#define NTRACE_TESTS_REAL_EACH_INSTRUCTION_H

#include <ntrace/ntrace.h>
#include <ntrace/tools.h>

struct instruction_sink {
    void (*instruction)(unsigned src, uint64_t address, const ntr_context *context);
    void (*problem)(unsigned src, uint64_t offset, const char *what);
};

static void sink_event(const struct instruction_sink *sink, ntr_instructions *expand, const ntr_event *e) {
    ntr_instruction one;
    if (e->kind == NTR_EVENT_SPAN) {
        uint32_t found = 0;
        ntr_instructions_begin(expand, e);
        for (; ntr_instructions_next(expand, &one) == NTR_OK; found++)
            sink->instruction(e->src, one.address, &e->context);
        if (found != e->instructions) sink->problem(e->src, e->offset, "a span without code");
    } else if (e->kind == NTR_EVENT_GAP || e->kind == NTR_EVENT_NOTE || e->kind == NTR_EVENT_NO_CODE) {
        sink->problem(e->src, e->offset, e->reason ? ntr_status_text((ntr_status)e->reason) : "no code");
    }
}

static ntr_status each_instruction(ntr_bundle *bundle, ntr_program *program, ntr_stream_reader *stream,
                                   const struct instruction_sink *sink) {
    static ntr_event events[4096];
    ntr_decoder_config config;
    ntr_decoder_config_init(&config);
    config.params = ntr_bundle_capture(bundle)->params;
    config.program = program;
    ntr_decoder *decoder;
    ntr_decoder_new(&config, &decoder);
    ntr_instructions *expand;
    ntr_instructions_new(program, NULL, &expand);
    ntr_status status = decoder && expand ? NTR_OK : NTR_E_MEMORY;
    for (bool last = false; !status && !last;) {
        ntr_bytes bytes;
        size_t count;
        if ((status = ntr_stream_reader_next(stream, &bytes, &last))) break;
        status = ntr_decoder_feed(decoder, bytes.data, bytes.size, last);
        while (!status) {
            status = ntr_decoder_read(decoder, events, sizeof events / sizeof *events, &count);
            for (size_t i = 0; i < count; i++) sink_event(sink, expand, &events[i]);
        }
        if (status == NTR_NEED_MORE || status == NTR_END) status = NTR_OK;
    }
    ntr_instructions_free(expand);
    ntr_decoder_free(decoder);
    return status;
}

#endif
