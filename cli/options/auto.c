#include "options/auto.h"
#include "options/diagnostics.h"

#include <ntrace/infer.h>

/* Which parameters the user gave. */
static uint32_t given(const struct cli_stream *s, const ntr_program *program) {
    const struct {
        ntr_parameter parameter;
        bool given;
    } rows[] = {
        {NTR_PARAMETER_DIALECT, s->dialect != NULL},
        {NTR_PARAMETER_SRC_BITS, s->src_bits >= 0},
        {NTR_PARAMETER_TIMESTAMPS, s->timestamps >= 0},
        {NTR_PARAMETER_TS_WIDTH, s->ts_width >= 0},
        {NTR_PARAMETER_IMPLICIT_RETURN, s->implicit_return >= 0},
        {NTR_PARAMETER_SEQUENTIAL_JUMP, s->sequential_jump != 0},
        {NTR_PARAMETER_EXTEND_ADDR, s->extend_addr != 0},
        {NTR_PARAMETER_ALL_JUMPS, s->all_jumps != 0},
        {NTR_PARAMETER_XLEN, s->xlen >= 0 || (program && ntr_program_xlen(program))},
    };
    uint32_t set = 0;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].given) set |= 1u << rows[i].parameter;
    }
    return set;
}

static void note(const char *name, const char *parameter, const ntr_choice *c) {
    if (c->sureness == NTR_SURENESS_GIVEN) return;
    if (c->sureness == NTR_SURENESS_UNKNOWN)
        cli_note("%s: auto: %s not determined, '%s' is assumed: %s", name, parameter, c->value, c->evidence);
    else
        cli_note("%s: auto: %s %s, %s: %s", name, parameter, c->value, ntr_sureness_name(c->sureness), c->evidence);
}

static void report(const char *name, const ntr_inference *inference) {
    for (unsigned p = 0; p < NTR_PARAMETERS; p++) note(name, ntr_parameter_name(p), &inference->choices[p]);
    note(name, "mode", &inference->mode);
}

int cli_auto_params(const struct cli_stream *stream, const char *name, ntr_bytes beginning, const ntr_program *program,
                    ntr_params *params) {
    ntr_infer_config config = {
        .size = sizeof config, .params = *params, .given = given(stream, program), .program = program};
    ntr_inference inference;
    ntr_status status = ntr_infer(&config, beginning, &inference);

    if (status != NTR_OK) return cli_fail("%s: --auto: %s", name, ntr_status_text(status));
    report(name, &inference);
    *params = inference.params;
    return CLI_OK;
}
