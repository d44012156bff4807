#include "options/auto.h"
#include "options/diagnostics.h"

#include <ntrace/decoder.h>
#include <ntrace/infer.h>
#include <ntrace/reader.h>
#include <stdio.h>
#include <string.h>

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

int cli_auto_params(const struct cli_stream *stream, uint32_t header, const char *name, ntr_bytes beginning,
                    const ntr_program *program, ntr_params *params) {
    ntr_inference inference;
    ntr_infer_config config;

    ntr_infer_config_init(&config);
    config.params = *params;
    config.given = given_params(stream, program) | header;
    config.program = program;
    ntr_status status = ntr_infer(&config, beginning, &inference);

    if (status != NTR_OK) return cli_fail("%s: --auto: %s", name, ntr_status_text(status));
    report(name, &inference);
    *params = inference.params;
    return CLI_OK;
}

/* Adds "--name value" of a parameter to the line. */
static void add_choice(char *line, size_t room, unsigned p, const ntr_choice *c) {
    size_t used = strlen(line);

    snprintf(line + used, room - used, "%s--%s %s (%s)", used ? ", " : "", ntr_parameter_name(p), c->value,
             ntr_confidence_name(c->confidence));
}

/* Adds the depth of the return stack, which no stream shows. */
static void add_depth(char *line, size_t room, const ntr_choice *c) {
    size_t used = strlen(line);

    if (c->confidence == NTR_CONFIDENCE_UNKNOWN) snprintf(line + used, room - used, ", %s (assumed)", c->evidence);
}

/* Returns whether the messages have no defect and no TSTAMP, whose rule would have to be found. */
static bool messages_fit(const ntr_params *params, ntr_bytes beginning) {
    ntr_reader reader;
    ntr_message m;
    bool fit = ntr_reader_init(&reader, params) == NTR_OK;

    if (fit) ntr_reader_feed(&reader, beginning.data, beginning.size, false);
    while (fit && ntr_reader_next(&reader, &m) == NTR_OK)
        fit = m.defect == NTR_OK && !NTR_HAS(&m, TSTAMP) && ntr_message_get(params->dialect, m.tcode);
    return fit;
}

/* Returns whether the program executes as these messages say. */
static bool execution_fits(const ntr_params *params, ntr_bytes beginning, const ntr_program *program) {
    ntr_image_info first;
    ntr_decoder_config config;
    ntr_counts counts = {0};

    if (!program || ntr_program_image(program, 0, &first) != NTR_OK) return true;
    ntr_decoder_config_init(&config);
    config.params = *params;
    config.program = program;
    ntr_decoder *decoder = ntr_decoder_new(&config, NULL);
    if (!decoder) return false;
    ntr_decoder_feed(decoder, beginning.data, beginning.size, false);
    ntr_status status = ntr_decoder_count(decoder, &counts);
    ntr_decoder_free(decoder);
    return status == NTR_NEED_MORE && counts.gaps == 0 && counts.instructions;
}

static bool defaults_fit(const ntr_params *params, ntr_bytes beginning, const ntr_program *program) {
    enum { ENOUGH = 1 << 16 };

    if (beginning.size > ENOUGH) beginning.size = ENOUGH;
    return messages_fit(params, beginning) && execution_fits(params, beginning, program);
}

int cli_auto_defaults(const char *name, ntr_bytes beginning, const ntr_program *program, ntr_params *params) {
    const bool has_xlen = program && ntr_program_xlen(program);
    ntr_params used = *params;
    ntr_inference inference;
    ntr_infer_config config;
    char line[512] = "";

    if (defaults_fit(params, beginning, program)) return CLI_OK;
    ntr_infer_config_init(&config);
    config.params = *params;
    config.given = has_xlen ? 1u << NTR_PARAMETER_XLEN : 0;
    config.program = program;
    ntr_status status = ntr_infer(&config, beginning, &inference);
    if (status != NTR_OK) return cli_fail("%s: --auto: %s", name, ntr_status_text(status));

    const uint32_t differ = ntr_params_difference(params, &inference.params);
    for (unsigned p = 0; p < NTR_PARAMETERS; p++) {
        const ntr_choice *c = &inference.choices[p];
        char value[32];
        if (!(differ >> p & 1) || (c->confidence != NTR_CONFIDENCE_SURE && c->confidence != NTR_CONFIDENCE_LIKELY))
            continue;
        if (ntr_params_get(&inference.params, ntr_parameter_name(p), value, sizeof value) < 0) continue;
        ntr_params_set(&used, ntr_parameter_name(p), value);
        if (p != NTR_PARAMETER_XLEN && p != NTR_PARAMETER_TIMESTAMPS) add_choice(line, sizeof line, p, c);
    }
    if (*line && differ >> NTR_PARAMETER_IMPLICIT_RETURN & 1)
        add_depth(line, sizeof line, &inference.choices[NTR_PARAMETER_RETURN_STACK]);
    if (*line) cli_note("%s: assumed from the stream: %s; options prevail, --auto gives the reasons", name, line);
    *params = used;
    return CLI_OK;
}
