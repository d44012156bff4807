#include "options/stream_options.h"
#include "options/diagnostics.h"

#include <string.h>

#define MEMBER(id) offsetof(struct cli_stream, given[NTR_PARAMETER_##id])
#define VALUE(id, option_name, option_kind, option_value, option_help)                                                 \
    .kind = option_kind, .name = option_name, .value = option_value, .help = option_help, .as_text = true,             \
    .member = MEMBER(id)
#define FLAG(id, option_name, option_text, option_help)                                                                \
    VALUE(id, option_name, CLI_KIND_SET, NULL, option_help), .text = option_text

/* Option rows for each kind of <ntrace/params.def>. */
#define STREAM_OPTION_DIALECT(id, name, min, max, words, help, no_help)                                                \
    {VALUE(id, name, CLI_KIND_STRING, "NAME", help)},
#define STREAM_OPTION_NUMBER(id, name, lo, hi, words, help, no_help)                                                   \
    {VALUE(id, name, CLI_KIND_NUMBER, "N", help), .min = lo, .max = hi},
#define STREAM_OPTION_ONE_OF(id, name, min, max, words, help, no_help) {VALUE(id, name, CLI_KIND_CHOICE, words, help)},
#define STREAM_OPTION_WORD(id, name, min, max, words, help, no_help)   {VALUE(id, name, CLI_KIND_CHOICE, words, help)},
#define STREAM_OPTION_FLAG(id, name, min, max, words, help, no_help)   {FLAG(id, name, "on", help)},
#define STREAM_OPTION_SWITCH(id, name, min, max, words, help, no_help)                                                 \
    {FLAG(id, name, "on", help)}, {FLAG(id, "no-" name, "off", no_help)},

const struct cli_option cli_stream_options[] = {
#define NTR_PARAM(id, type, member, name, kind, min, max, words, initial, scope, found, encoder, help, no_help)        \
    STREAM_OPTION_##kind(id, name, min, max, words, help, no_help)
#include <ntrace/params.def>
#undef NTR_PARAM
    CLI_FLAG(0, "auto", struct cli_stream, infer,
             "infer the parameters that no option gives from the stream (and the program); report each value and how "
             "certain it is"),
    CLI_FLAG(0, "plain", struct cli_stream, plain,
             "the file is the stream itself: look for no header of a producer's tool"),
    {0},
};

uint32_t cli_stream_given(const struct cli_stream *stream) {
    uint32_t set = 0;

    for (unsigned p = 0; p < NTR_PARAMETERS; p++) {
        if (stream->given[p]) set |= 1u << p;
    }
    return set;
}

int cli_stream_params(const struct cli_stream *stream, const ntr_params *base, ntr_params *params) {
    const char *name = stream->given[NTR_PARAMETER_DIALECT];
    const ntr_dialect *dialect = NULL;

    if (name && !(dialect = ntr_dialect_find(name)))
        return cli_fail("--dialect: expected a name from 'ntrace help dialects', found '%s'", name);
    if (base && !dialect)
        *params = *base;
    else
        ntr_params_init(params, dialect);

    for (unsigned p = 0; p < NTR_PARAMETERS; p++) {
        if (!stream->given[p]) continue;
        ntr_status status = ntr_params_set(params, ntr_parameter_name(p), stream->given[p]);
        if (status != NTR_OK)
            return cli_fail("--%s %s: %s", ntr_parameter_name(p), stream->given[p], ntr_status_text(status));
    }
    ntr_status status = ntr_params_check(params);
    return status == NTR_OK ? CLI_OK : cli_fail("stream parameters: %s", ntr_status_text(status));
}
