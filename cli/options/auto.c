#include "options/auto.h"
#include "options/diagnostics.h"

#include <ntrace/infer.h>

/* Returns the set of parameters that are given by options or the program and therefore not inferred. */
static uint32_t given_params(const struct cli_stream *stream, const ntr_program *program) {
    const bool has_xlen = program && ntr_program_xlen(program);

    return cli_stream_given(stream) | (has_xlen ? 1u << NTR_PARAMETER_XLEN : 0);
}

static void note(const char *name, const char *parameter, const ntr_choice *c) {
    if (c->confidence == NTR_CONFIDENCE_GIVEN) return;
    if (c->confidence == NTR_CONFIDENCE_UNKNOWN)
        cli_note("%s: auto: %s not determined, '%s' is assumed: %s", name, parameter, c->value, c->evidence);
    else
        cli_note("%s: auto: %s %s, %s: %s", name, parameter, c->value, ntr_confidence_name(c->confidence), c->evidence);
}

static void report(const char *name, const ntr_inference *inference) {
    for (unsigned p = 0; p < NTR_PARAMETERS; p++) note(name, ntr_parameter_name(p), &inference->choices[p]);
    note(name, "mode", &inference->mode);
}

int cli_auto_params(const struct cli_stream *stream, const char *name, ntr_bytes beginning, const ntr_program *program,
                    ntr_params *params) {
    ntr_inference inference;
    ntr_infer_config config;

    ntr_infer_config_init(&config);
    config.params = *params;
    config.given = given_params(stream, program);
    config.program = program;
    ntr_status status = ntr_infer(&config, beginning, &inference);

    if (status != NTR_OK) return cli_fail("%s: --auto: %s", name, ntr_status_text(status));
    report(name, &inference);
    *params = inference.params;
    return CLI_OK;
}
