#include "options/stream_options.h"
#include "options/diagnostics.h"
#include "options/words.h"

#include <inttypes.h>
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
             "infer the parameters that no option gives from the stream (and the program); one line reports them"),
    CLI_FLAG('v', "verbose", struct cli_stream, verbose,
             "with --auto: report every parameter, how certain it is, and why"),
    CLI_FLAG(0, "plain", struct cli_stream, plain,
             "the file is the stream itself: look for no header of a producer's tool and no frames"),
    CLI_CHOICE(0, "input-format", "auto|raw|coresight|tmc", struct cli_stream, from, CLI_FROM_AUTO,
               "what the file contains: messages (raw), CoreSight frames of 16 bytes (coresight), or the memory of an "
               "ETR, ETF or ETB (tmc) (default: recognize it)"),
    {.kind = CLI_KIND_NUMBER,
     .name = "trace-id",
     .value = "N",
     .min = 1,
     .max = 0x6f,
     .as_text = true,
     .member = offsetof(struct cli_stream, trace_id),
     .help = "CoreSight frames: read only trace ID N (default: all; SRC says which hart sent a message)"},
    CLI_TMC_OPTIONS(struct cli_stream, tmc),
    {0},
};

uint32_t cli_stream_given(const struct cli_stream *stream) {
    uint32_t set = 0;

    for (unsigned p = 0; p < NTR_PARAMETERS; p++) {
        if (stream->given[p]) set |= 1u << p;
    }
    return set;
}

static int unknown_dialect(const char *name) {
    const ntr_dialect *d;
    const char *near = NULL;

    for (size_t i = 0; !near && (d = ntr_dialect_at(i)); i++)
        if (cli_looks_like(name, d->name)) near = d->name;
    return cli_fail("--dialect: expected a name from 'ntrace help dialects', found '%s'%s%s%s", name,
                    near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

int cli_stream_params(const struct cli_stream *stream, const ntr_params *base, ntr_params *params) {
    const char *name = stream->given[NTR_PARAMETER_DIALECT];
    const ntr_dialect *dialect = NULL;

    if (name && !(dialect = ntr_dialect_find(name))) return unknown_dialect(name);
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

#define ROWS_MAX 64

static uint8_t argument_kind(const ntr_encoder_option *option) {
    return option->argument == NTR_OPTION_FLAG       ? CLI_ARGUMENT_SWITCH
           : option->argument == NTR_OPTION_OPTIONAL ? CLI_ARGUMENT_OPTIONAL
                                                     : CLI_ARGUMENT_VALUE;
}

const struct cli_option *cli_encoder_rows(void) {
    static struct cli_option rows[ROWS_MAX + 1];
    const ntr_encoder_option *option;

    for (size_t i = 0; i < ROWS_MAX && (option = ntr_encoder_option_at(i)); i++) {
        rows[i] = (struct cli_option){
            .kind = CLI_KIND_LIST,
            .argument = argument_kind(option),
            .name = option->name,
            .value = option->argument == NTR_OPTION_FLAG ? NULL : option->value,
            .member = offsetof(struct cli_encoder, list),
            .help = option->help,
        };
    }
    return rows;
}

static const ntr_encoder_option *find(const char *name) {
    const ntr_encoder_option *option;

    for (size_t i = 0; (option = ntr_encoder_option_at(i)); i++) {
        if (strcmp(option->name, name) == 0) return option;
    }
    return NULL;
}

static int report_error(const struct cli_item *item, ntr_status status) {
    const ntr_encoder_option *option = find(item->name);
    const char *value = item->value ? item->value : "";

    if (option && option->value && strchr(option->value, '|')) {
        const char *near = cli_choice_near(option->value, value);
        return cli_fail("--%s: expected one of %s, found '%s'%s%.*s%s", item->name, option->value, value,
                        near ? "; did you mean '" : "", near ? (int)strcspn(near, "|") : 0, near ? near : "",
                        near ? "'?" : "");
    }
    if (option && option->numeric)
        return cli_fail("--%s: expected a number from %" PRIu64 " to %" PRIu64 ", found '%s'", item->name,
                        option->least, option->most, value);
    if (option && option->value)
        return cli_fail("--%s: expected %s, found '%s': %s", item->name, option->value, value, ntr_status_text(status));
    return cli_fail("--%s: %s", item->name, ntr_status_text(status));
}

/* Applies the options that are the dialect, or those that are not. */
static int apply(const struct cli_encoder *given, bool dialect, ntr_encoder_config *config) {
    for (size_t i = 0; i < given->list.count; i++) {
        const struct cli_item *item = &given->list.items[i];
        if ((strcmp(item->name, "dialect") == 0) != dialect) continue;
        ntr_status status = ntr_encoder_option_set(config, item->name, item->value);
        if (status != NTR_OK) return report_error(item, status);
    }
    return CLI_OK;
}

int cli_encoder_configure(const struct cli_encoder *given, ntr_encoder_config *config) {
    const char *why = NULL;

    /* The dialect comes first, wherever it is given: it sets other options. */
    if (apply(given, true, config) != CLI_OK || apply(given, false, config) != CLI_OK) return CLI_FAILED;
    ntr_status status = ntr_encoder_config_check(config, &why);
    return status == NTR_OK ? CLI_OK : cli_fail("encoder options: %s", why ? why : ntr_status_text(status));
}

const char *cli_encoder_value(const struct cli_encoder *given, const char *name) {
    for (size_t i = given->list.count; i-- > 0;)
        if (strcmp(given->list.items[i].name, name) == 0) return given->list.items[i].value;
    return NULL;
}

bool cli_encoder_gives(const struct cli_encoder *given, const char *name) {
    return cli_encoder_value(given, name) != NULL;
}
