#include "options/auto.h"
#include "options/diagnostics.h"

#include <ntrace/decoder.h>
#include <ntrace/fit.h>
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

/* Appends a parameter to the line as the option that a user would give: "--name value", "--name" or "--no-name". */
static void add_option(char *line, size_t room, const char *separator, unsigned p, const char *value) {
    const bool off = strcmp(value, "off") == 0 && p != NTR_PARAMETER_IMPLICIT_RETURN;
    const bool has_value = !off && strcmp(value, "on") != 0;
    const size_t used = strlen(line);

    snprintf(line + used, room - used, "%s--%s%s%s%s", used ? separator : "", off ? "no-" : "", ntr_parameter_name(p),
             has_value ? " " : "", has_value ? value : "");
}

/* Adds a parameter that was inferred. */
static void add_choice(char *line, size_t room, unsigned p, const ntr_choice *c) {
    add_option(line, room, ", ", p, c->value);
    const size_t used = strlen(line);
    snprintf(line + used, room - used, " (%s)", ntr_confidence_name(c->confidence));
}

/* One line: what differs from the defaults, as options. With -v, each parameter with its reason. */
static void report(const struct cli_stream *stream, const char *name, const ntr_params *base,
                   const ntr_inference *inference) {
    const uint32_t differ = ntr_params_difference(base, &inference->params);
    char line[512] = "";

    if (!cli_first_time("auto", name)) return;
    for (unsigned p = 0; p < NTR_PARAMETERS; p++) {
        const ntr_choice *c = &inference->choices[p];
        if (differ >> p & 1 && c->confidence != NTR_CONFIDENCE_GIVEN && c->confidence != NTR_CONFIDENCE_UNKNOWN)
            add_choice(line, sizeof line, p, c);
    }
    cli_note("%s: auto: %s, mode %s%s", name, *line ? line : "the defaults fit", inference->mode.value,
             stream->verbose ? "" : "; -v prints the reasons");
    if (!stream->verbose) return;
    for (unsigned p = 0; p < NTR_PARAMETERS; p++) note(name, ntr_parameter_name(p), &inference->choices[p]);
    note(name, "mode", &inference->mode);
}

/* ---- a program that is not the one that ran */

/* Sets *fit for the beginning of the stream. A decoder that may infer the target of a return or a jump still takes the
 * address of a message that has one, so what is not given may be inferred. Returns whether other code ran. */
static bool is_other_code(ntr_params *params, uint32_t given, ntr_bytes beginning, const ntr_program *program,
                          ntr_fit *fit) {
    ntr_decoder_config config;

    if (!(given >> NTR_PARAMETER_IMPLICIT_RETURN & 1)) params->implicit_return = NTR_RETURN_FULL;
    if (!(given >> NTR_PARAMETER_SEQUENTIAL_JUMP & 1)) params->sequential_jump = true;
    ntr_decoder_config_init(&config);
    config.params = *params;
    config.program = program;
    return ntr_fit_measure(&config, beginning, false, fit, NULL, 0) == NTR_OK && !fit->damaged &&
           fit->verdict == NTR_FIT_OTHER_CODE;
}

/* Neither the parameters as they are nor those that were inferred explain the stream with this program. */
static bool find_misfit(const ntr_params *params, const ntr_params *inferred, uint32_t given, ntr_bytes beginning,
                        const ntr_program *program, struct cli_auto_found *found) {
    ntr_params plain = *params, other = *inferred;
    ntr_image_info first;
    ntr_fit one, two;

    if (!found || !program || ntr_program_image(program, 0, &first) != NTR_OK) return false;
    found->misfit = is_other_code(&plain, given, beginning, program, &one) &&
                    is_other_code(&other, given, beginning, program, &two);
    if (found->misfit) found->fitting = two.agreeing > 2 * one.agreeing ? other : plain;
    return found->misfit;
}

int cli_auto_params(const struct cli_stream *stream, uint32_t header, const char *name, ntr_bytes beginning,
                    const ntr_program *program, ntr_params *params, struct cli_auto_found *found) {
    ntr_inference inference;
    ntr_infer_config config;

    ntr_infer_config_init(&config);
    config.params = *params;
    config.given = given_params(stream, program) | header;
    config.program = program;
    ntr_status status = ntr_infer(&config, beginning, &inference);

    if (status != NTR_OK) return cli_fail("%s: --auto: %s", name, ntr_status_text(status));
    if (find_misfit(params, &inference.params, config.given, beginning, program, found)) return CLI_OK;
    report(stream, name, params, &inference);
    *params = inference.params;
    return CLI_OK;
}

/* Adds the depth of the return stack, which no stream shows. */
static void add_depth(char *line, size_t room, const ntr_choice *c) {
    size_t used = strlen(line);

    if (c->confidence == NTR_CONFIDENCE_UNKNOWN) snprintf(line + used, room - used, ", %s (assumed)", c->evidence);
}

/* How a stream reads with the defaults. POOR: it contradicts them so often that it seems to be no such stream. */
enum fit { FITS, OPEN, CONTRADICTS, POOR };

/* Returns whether the message has a value that N-Trace 1.0 does not define, as one that is read at the wrong bits. */
static bool is_odd(const ntr_params *params, const ntr_message *m) {
    static const uint8_t fields[] = {NTR_FIELD_SYNC, NTR_FIELD_EVCODE, NTR_FIELD_ETYPE, NTR_FIELD_RCODE};
    enum { FORMAT_RESERVED = 1, FORMAT_BITS = 3 };

    for (size_t i = 0; i < sizeof fields; i++) {
        if (!(m->present >> fields[i] & 1)) continue;
        const char *name = ntr_value_name(params->dialect, fields[i], m->value[fields[i]]);
        if (strcmp(name, "reserved") == 0 || strcmp(name, "vendor") == 0) return true;
    }
    return NTR_HAS(m, PROCESS) && (m->process & FORMAT_BITS) == FORMAT_RESERVED;
}

/* TSTAMP leaves open by which rule it is to be read. *end is set to the end of the last complete message. */
static enum fit fit_of_messages(const ntr_params *params, ntr_bytes beginning, size_t *end) {
    ntr_reader reader;
    ntr_message m;
    enum fit fit = FITS;

    if (ntr_reader_init(&reader, params) != NTR_OK) return CONTRADICTS;
    ntr_reader_feed(&reader, beginning.data, beginning.size, false);
    while (ntr_reader_next(&reader, &m) == NTR_OK) {
        *end = m.offset + m.size;
        if (m.defect != NTR_OK) fit = CONTRADICTS;
        const bool open = NTR_HAS(&m, TSTAMP) || !ntr_message_get(params->dialect, m.tcode) || is_odd(params, &m);
        if (fit == FITS && open) fit = OPEN;
    }
    return fit;
}

/* Returns how an event speaks of the parameters: messages that were lost, and code that no image has, say nothing. */
static enum fit fit_of_event(const ntr_event *e) {
    if (e->kind == NTR_EVENT_NOTE) return CONTRADICTS;
    if (e->kind != NTR_EVENT_GAP) return FITS;
    return e->reason == NTR_E_OVERFLOW || e->reason == NTR_E_TRUNCATED ? FITS
           : ntr_reason_is_of_code(e->reason)                          ? OPEN
                                                                       : CONTRADICTS;
}

/* Returns whether the program executes as these messages say. Also a gap that is open at the end counts. */
static enum fit fit_of_execution(const ntr_params *params, ntr_bytes beginning, const ntr_program *program) {
    enum { BATCH = 256, AT_MOST = 1 << 20, POOR_RATIO = 8 };
    ntr_image_info first;
    ntr_decoder_config config;
    ntr_event events[BATCH];
    uint64_t followed = 0, message = 0, contradictions = 0, all = 0;
    enum fit fit = FITS;
    ntr_status status;

    if (!program || ntr_program_image(program, 0, &first) != NTR_OK) return FITS;
    ntr_decoder_config_init(&config);
    config.params = *params;
    config.program = program;
    ntr_decoder *decoder;
    ntr_decoder_new(&config, &decoder);
    if (!decoder) return OPEN;
    ntr_decoder_feed(decoder, beginning.data, beginning.size, true);
    do {
        size_t count;
        status = ntr_decoder_read(decoder, events, BATCH, &count);
        for (size_t i = 0; i < count; i++) {
            const enum fit one = fit_of_event(&events[i]);
            if (one > fit) fit = one;
            contradictions += events[i].kind == NTR_EVENT_GAP && one == CONTRADICTS;
            followed += events[i].kind == NTR_EVENT_SPAN && events[i].message != message;
            message = events[i].message;
        }
        all += count;
    } while (status == NTR_OK && all < AT_MOST);
    ntr_decoder_free(decoder);
    if (contradictions * POOR_RATIO > followed) return POOR;
    return fit == FITS && (!followed || status != NTR_END) ? OPEN : fit;
}

static enum fit fit_of_defaults(const ntr_params *params, ntr_bytes beginning, const ntr_program *program) {
    size_t end = 0;
    const enum fit messages = fit_of_messages(params, beginning, &end);
    beginning.size = end;
    const enum fit execution = fit_of_execution(params, beginning, program);
    return messages > execution ? messages : execution;
}

/* Takes over what the inference is sure of, or finds likely. Returns it as options in `line`. */
static void adopt(const ntr_inference *inference, ntr_params *params, char *line, size_t room) {
    const uint32_t differ = ntr_params_difference(params, &inference->params);

    *line = 0;
    for (unsigned p = 0; p < NTR_PARAMETERS; p++) {
        const ntr_choice *c = &inference->choices[p];
        char value[32];
        if (!(differ >> p & 1) || (c->confidence != NTR_CONFIDENCE_SURE && c->confidence != NTR_CONFIDENCE_LIKELY))
            continue;
        if (ntr_params_get(&inference->params, ntr_parameter_name(p), value, sizeof value) < 0) continue;
        ntr_params_set(params, ntr_parameter_name(p), value);
        if (p != NTR_PARAMETER_XLEN && p != NTR_PARAMETER_TIMESTAMPS) add_choice(line, room, p, c);
    }
    if (*line && differ >> NTR_PARAMETER_IMPLICIT_RETURN & 1)
        add_depth(line, room, &inference->choices[NTR_PARAMETER_RETURN_STACK]);
}

static ntr_status infer_others(ntr_bytes beginning, const ntr_program *program, uint32_t given,
                               const ntr_params *params, ntr_inference *inference) {
    const bool has_xlen = program && ntr_program_xlen(program);
    ntr_infer_config config;

    ntr_infer_config_init(&config);
    config.params = *params;
    config.given = given | (has_xlen ? 1u << NTR_PARAMETER_XLEN : 0);
    config.program = program;
    return ntr_infer(&config, beginning, inference);
}

int cli_auto_defaults(const char *name, uint32_t header, ntr_bytes beginning, const ntr_program *program,
                      ntr_params *params, struct cli_auto_found *found) {
    const enum fit fit = fit_of_defaults(params, beginning, program);
    ntr_inference inference;
    char line[512];

    if (fit == FITS) return CLI_OK;
    ntr_status status = infer_others(beginning, program, header, params, &inference);
    if (status != NTR_OK) return cli_fail("%s: --auto: %s", name, ntr_status_text(status));
    if (found) {
        found->inferred = true;
        found->likeliest = inference.params;
    }
    if (fit >= CONTRADICTS && find_misfit(params, &inference.params, header, beginning, program, found)) return CLI_OK;
    adopt(&inference, params, line, sizeof line);
    if (!cli_first_time("auto", name)) return CLI_OK;
    if (*line)
        cli_note("%s: assumed from the stream: %s; options prevail, --auto -v gives the reasons", name, line);
    else if (fit == POOR)
        cli_note(
            "%s: contradicts the defaults of N-Trace 1.0, and no other parameters fit clearly better: read with the "
            "defaults (see --auto -v)",
            name);
    return CLI_OK;
}

/* The values of `other` that differ, as options. */
static void put_difference(const ntr_params *params, const ntr_params *other, char *line, size_t room) {
    const uint32_t differ = ntr_params_difference(params, other);

    *line = 0;
    for (unsigned p = 0; p < NTR_PARAMETERS; p++) {
        char value[32];
        if (!(differ >> p & 1) || (p == NTR_PARAMETER_XLEN && !other->xlen)) continue; /* 0: that of the program */
        if (ntr_params_get(other, ntr_parameter_name(p), value, sizeof value) < 0) continue;
        if (p == NTR_PARAMETER_TIMESTAMPS && other->timestamps == NTR_TIMESTAMPS_SEEN) continue; /* no option says it */
        add_option(line, room, " ", p, value);
    }
}

/* Returns the beginning of the stream up to the first contradiction and some more: parameters that explain the stream
 * explain this. */
static ntr_bytes up_to_contradiction(ntr_bytes beginning, const ntr_fit *fit) {
    enum { BEHIND = 16 << 10 };

    if (fit->contradicting && fit->offset < beginning.size - (beginning.size < BEHIND ? beginning.size : BEHIND))
        beginning.size = (size_t)fit->offset + BEHIND;
    return beginning;
}

bool cli_auto_explains(ntr_bytes beginning, bool last, const ntr_program *program, const ntr_params *likeliest,
                       ntr_params *params, ntr_fit *fit, char *line, size_t room) {
    enum { CONTRADICTIONS = 32 }; /* one in so many messages may be damage */
    const ntr_params given = *params;
    ntr_params tried[2] = {given};
    ntr_inference inference;

    ntr_params_init(&tried[1], NULL);
    if (!likeliest) {
        const ntr_bytes part = up_to_contradiction(beginning, fit);
        if (infer_others(part, program, 0, &tried[1], &inference) != NTR_OK) return false;
        likeliest = &inference.params;
    }
    tried[1] = *likeliest;
    for (unsigned i = 0; i < 2; i++) {
        ntr_fit one;
        is_other_code(&tried[i], 0, beginning, program, &one);
        if (one.agreeing <= 2 * fit->agreeing && one.verdict != NTR_FIT_AGREES) continue;
        *fit = one;
        *params = tried[i];
    }
    fit->complete &= last;
    put_difference(&given, params, line, room);
    return *line && fit->contradicting * CONTRADICTIONS <= fit->agreeing;
}

bool cli_auto_others(const struct cli_stream *stream, ntr_bytes beginning, const ntr_program *program,
                     ntr_params *params, char *line, size_t room) {
    ntr_inference inference;

    if (infer_others(beginning, program, cli_stream_given(stream), params, &inference) != NTR_OK) return false;
    adopt(&inference, params, line, room);
    return *line;
}
