#include "options/auto.h"
#include "io/document.h"
#include "options/options.h"
#include "text/findings.h"
#include "text/quality.h"
#include "io/images.h"
#include "options/diagnostics.h"
#include "options/selection.h"
#include "options/words.h"
#include "io/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHECK_DOCUMENT = CLI_FINDINGS_JUNIT + 1 }; /* --format json */
enum { FAIL_ERROR, FAIL_WARNING, FAIL_NOTE, FAIL_NEVER };

struct check_options {
    struct cli_stream stream;
    struct cli_images images;
    struct cli_result result;
    struct cli_selection selection; /* from, to */
    struct cli_list rules;
    int64_t most, period, src;
    int list, fail_on, mid_stream;
};

#define S struct check_options
static const struct cli_option check_table[] = {
    CLI_FLAG(0, "list-rules", S, list, "list the rules, one per line, and exit"),
    CLI_LIST(0, "rules", "ID[,ID...]", S, rules, "check only these rules (default: all)"),
    CLI_CHOICE(0, "fail-on", "error|warning|note|never", S, fail_on, FAIL_ERROR,
               "lowest severity that sets exit status 1 (default error)"),
    CLI_NUMBER(0, "src", "N", S, src, 0, 4095, -1, "report only findings of source N and findings without a source"),
    CLI_NUMBER(0, "sync-period", "N", S, period, 0, UINT32_MAX, 0,
               "largest number of messages between two synchronizations, 2^(trTeInstSyncMax + 4) (default: not "
               "checked)"),
    CLI_NUMBER(0, "max", "N", S, most, 1, 1000000, 10,
               "print at most N findings per rule, count the others (default 10)"),
    CLI_FLAG(0, "mid-stream", S, mid_stream, "the stream starts in the middle of a message (a wrapped buffer)"),
    CLI_CHOICE(0, "format", CLI_FINDINGS_NAMES "|json", S, result.format, CLI_FINDINGS_TEXT,
               "output format (default text); json: one document with the findings"),
    {0},
};
#undef S

static const struct cli_group groups[] = {
    CLI_OWN("options", check_table),
    CLI_GROUP("program", cli_image_options, struct check_options, images),
    CLI_GROUP("output", cli_path_options, struct check_options, result),
    CLI_GROUP("window", cli_selection_range_options, struct check_options, selection),
    CLI_GROUP("stream", cli_stream_options, struct check_options, stream),
    {0},
};

struct check_run {
    const struct check_options *options;
    struct cli_trace trace;
    struct cli_window window;
    struct cli_output out;
    struct cli_findings findings;
    bool wanted[CLI_RULES_MAX];
    uint64_t bytes;  /* of the stream, checked so far */
    uint8_t *beginning; /* of the stream, to infer parameters from */
    size_t beginning_size;
    ntr_reader reader; /* looks for messages of --src */
    bool has_source;
};

/* In a document, findings are written as in JSON lines. */
static enum cli_findings_format format_of(const struct check_options *o) {
    return o->result.format == CHECK_DOCUMENT ? CLI_FINDINGS_JSONL : (enum cli_findings_format)o->result.format;
}

static int open_output(const struct check_options *o, struct cli_output *out, const char *name) {
    struct cli_result result = o->result;

    result.format = o->result.format == CHECK_DOCUMENT ? CLI_FORMAT_JSON : CLI_FORMAT_TEXT;
    return cli_document_open(out, &result, name);
}

/* ---- rules */

static void list_rule(struct cli_output *out, int format, const ntr_check_rule *rule) {
    const char *severity = ntr_severity_name((ntr_severity)rule->severity);

    if (format == CLI_FINDINGS_TEXT) {
        cli_output_print(out, "%-20s %-8s section %-5s %-13s %s\n", rule->id, severity, rule->section, rule->statements,
                         rule->about);
        return;
    }
    cli_output_print(out, "{\"rule\":\"%s\",\"severity\":\"%s\",\"section\":\"%s\",\"statements\":\"%s\",\"about\":",
                     rule->id, severity, rule->section, rule->statements);
    cli_output_json(out, rule->about);
    cli_output_text(out, ",\"breaking\":");
    cli_output_json(out, rule->breaking);
    cli_output_text(out, "}\n");
}

static int list_rules(const struct check_options *o) {
    const ntr_check_rule *rule;
    struct cli_output out;

    if (format_of(o) > CLI_FINDINGS_JSONL) return cli_fail("--list-rules supports only --format text, jsonl and json");
    if (open_output(o, &out, "rules") != CLI_OK) return CLI_FAILED;
    for (size_t i = 0; (rule = ntr_check_rule_at(i)); i++) list_rule(&out, o->result.format, rule);
    cli_document_end(&out, NULL);
    return cli_output_close(&out, CLI_OK);
}

static int select_rule(struct check_run *r, const char *id, size_t length) {
    const ntr_check_rule *rule;

    for (size_t i = 0; (rule = ntr_check_rule_at(i)); i++) {
        if (strlen(rule->id) != length || memcmp(rule->id, id, length) != 0) continue;
        r->wanted[i] = true;
        return CLI_OK;
    }
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)length, id);
    for (size_t i = 0; (rule = ntr_check_rule_at(i)); i++)
        if (cli_looks_like(name, rule->id))
            return cli_fail("--rules: no rule '%.*s'; did you mean '%s'?", (int)length, id, rule->id);
    return cli_fail("--rules: no rule '%.*s'; 'ntrace check --list-rules' lists them", (int)length, id);
}

static int select_rules(struct check_run *r) {
    const struct cli_list *list = &r->options->rules;

    if (!list->count) memset(r->wanted, true, sizeof r->wanted);
    for (size_t i = 0; i < list->count; i++) {
        for (const char *id = list->items[i].value; id;) {
            const char *comma = strchr(id, ',');
            if (select_rule(r, id, comma ? (size_t)(comma - id) : strlen(id)) != CLI_OK) return CLI_FAILED;
            id = comma ? comma + 1 : NULL;
        }
    }
    return CLI_OK;
}

/* ---- checking */

static void found(void *user, const ntr_finding *finding) {
    struct check_run *r = user;

    if (r->options->src >= 0 && finding->has_source && finding->src != r->options->src) return;
    if (cli_window_place(&r->window, finding->message, finding->offset, NULL) != CLI_INSIDE) return;
    if (r->wanted[finding->index]) cli_findings_add(&r->findings, format_of(r->options), finding);
}

/* Without memory, there is no hint. */
static void keep_beginning(struct check_run *r, ntr_bytes piece) {
    const size_t room = CLI_AUTO_BYTES - r->beginning_size, size = piece.size < room ? piece.size : room;
    uint8_t *grown = size ? realloc(r->beginning, r->beginning_size + size) : NULL;

    if (!grown) return;
    memcpy(grown + r->beginning_size, piece.data, size);
    r->beginning = grown;
    r->beginning_size += size;
}

/* Sets `has_source` when a message is of --src, or of no source. */
static void look_for_source(struct check_run *r, ntr_bytes span, bool last) {
    ntr_message m;

    if (ntr_reader_feed(&r->reader, span.data, span.size, last) != NTR_OK) return;
    while (ntr_reader_next(&r->reader, &m) == NTR_OK)
        r->has_source |= !m.defect && (!NTR_HAS(&m, SRC) || m.src == r->window.source);
}

static int check_stream(struct check_run *r, ntr_check *check) {
    ntr_bytes piece;
    bool last = false;

    while (!last && !r->out.done) {
        if (!cli_trace_feed(&r->trace, &piece, &last)) return CLI_FAILED;
        r->bytes += piece.size;
        keep_beginning(r, piece);
        ntr_status status = ntr_check_feed(check, piece.data, piece.size, last);
        if (status != NTR_OK) return cli_fail("%s: %s", r->trace.input.name, ntr_status_text(status));
        if (r->options->src >= 0 && !r->has_source) look_for_source(r, piece, last);
    }
    return CLI_OK;
}

/* ---- other parameters */

static void count_error(void *user, const ntr_finding *finding) {
    uint64_t *errors = user;

    *errors += finding->severity == NTR_SEVERITY_ERROR;
}

/* Returns the number of errors in the beginning of the stream, read with these parameters; UINT64_MAX without memory.
 */
static uint64_t errors_with(const struct check_run *r, const ntr_check_config *like, const ntr_params *params) {
    uint64_t errors = 0;
    ntr_check_config config = *like;

    config.params = *params;
    config.found = count_error;
    config.user = &errors;
    ntr_check *check;
    ntr_check_new(&config, &check);
    if (!check) return UINT64_MAX;
    const ntr_status status = ntr_check_feed(check, r->beginning, r->beginning_size, true);
    ntr_check_free(check);
    return status == NTR_OK ? errors : UINT64_MAX;
}

/* Says when all errors, or nearly all, vanish with other parameters. */
static void hint(const struct check_run *r, const ntr_check_config *config) {
    const ntr_bytes beginning = {r->beginning, r->beginning_size};
    ntr_params params = config->params;
    char line[512];

    if (r->trace.bundle || r->trace.perf || !r->findings.by_severity[NTR_SEVERITY_ERROR] || !beginning.size) return;
    if (!cli_auto_others(&r->options->stream, beginning, config->program, &params, line, sizeof line)) return;
    const uint64_t before = errors_with(r, config, &config->params), after = errors_with(r, config, &params);
    if (after < before && after * 16 <= before)
        cli_note("%s: %s of these errors vanish with %s; --auto infers", r->trace.input.name, after ? "most" : "all",
                 line);
}

static int exit_status(const struct check_run *r) {
    static const int lowest[] = {[FAIL_ERROR] = NTR_SEVERITY_ERROR,
                                 [FAIL_WARNING] = NTR_SEVERITY_WARNING,
                                 [FAIL_NOTE] = NTR_SEVERITY_NOTE,
                                 [FAIL_NEVER] = NTR_SEVERITY_ERROR + 1};

    for (int s = lowest[r->options->fail_on]; s <= NTR_SEVERITY_ERROR; s++)
        if (r->findings.by_severity[s]) return CLI_DEFECTS;
    return CLI_OK;
}

static int check_all(struct check_run *r, ntr_check *check) {
    const enum cli_findings_format format = format_of(r->options);

    cli_findings_begin(&r->findings, format);
    int status = check_stream(r, check);
    if (status == CLI_OK) status = exit_status(r);
    if (status == CLI_FAILED) return status; /* already reported; writing the end would mark the output as complete */
    cli_findings_end(&r->findings, format, ntr_check_messages(check), status);
    const uint64_t messages = ntr_check_messages(check);
    struct cli_quality q = {.unfollowed = true, .unplaced = 1, .read = true, .messages = messages, .bytes = r->bytes};
    cli_quality_images(&q, &r->trace);
    cli_quality_document(&q, &r->out);
    cli_quality_release(&q);
    const bool any = messages && cli_window_place(&r->window, messages, r->bytes - 1, NULL) != CLI_BEFORE &&
                     (r->options->src < 0 || r->has_source);
    return cli_trace_part_status(&r->trace, &r->window, any, status);
}

static int check_trace(struct check_run *r) {
    const struct check_options *o = r->options;
    ntr_image_info first;
    ntr_status status;

    if (cli_trace_program(&r->trace, &o->images, &o->stream, false) != CLI_OK) return CLI_FAILED;
    if (cli_trace_check_window(&r->trace, &r->window) != CLI_OK) return CLI_FAILED;
    ntr_reader_init(&r->reader, &r->trace.params);
    const bool has_images = ntr_program_image(r->trace.program, 0, &first) == NTR_OK;
    r->findings.params = &r->trace.params;
    r->findings.program = has_images ? r->trace.program : NULL;
    ntr_check_config config;
    ntr_check_config_init(&config);
    config.params = r->trace.params;
    config.program = r->findings.program;
    config.found = found;
    config.user = r;
    config.mid_stream = o->mid_stream != 0;
    config.begins_inside = r->trace.bundle && ntr_bundle_capture(r->trace.bundle)->begins_inside;
    config.sync_period = (uint32_t)o->period;
    ntr_check *check;
    status = ntr_check_new(&config, &check);
    if (!check) return cli_fail("%s: %s", r->trace.input.name, ntr_status_text(status));
    int result = open_output(o, &r->out, "check");
    if (result == CLI_OK) result = cli_output_close(&r->out, check_all(r, check));
    if (result != CLI_FAILED) hint(r, &config);
    ntr_check_free(check);
    return result;
}

static int check_run(const void *options, char **operands) {
    struct check_run r = {.options = options};

    if (r.options->list) return list_rules(r.options);
    if (!operands[0]) return cli_fail("expected TRACE; see 'ntrace help check'");
    r.findings = (struct cli_findings){.out = &r.out, .file = operands[0], .max = (uint64_t)r.options->most};
    if (select_rules(&r) != CLI_OK) return CLI_FAILED;
    if (cli_selection_messages(&r.options->selection, &r.window) != CLI_OK) return CLI_FAILED;
    r.window.one_source = r.options->src >= 0; /* --src is another option here */
    r.window.source = (uint16_t)r.options->src;
    if (cli_trace_open(&r.trace, operands[0], &r.options->stream, &r.options->images) != CLI_OK) return CLI_FAILED;
    r.trace.as_given = true; /* a defect is to be found, not to be explained */
    int status = check_trace(&r);
    free(r.beginning);
    cli_findings_free(&r.findings);
    cli_trace_close(&r.trace);
    return status;
}

const struct cli_command cli_check = {
    .operands = "[TRACE]",
    .min_operands = 0,
    .max_operands = 1,
    .groups = groups,
    .size = sizeof(struct check_options),
    .run = check_run,
    .next = "decode --show call",
    .about =
        "Checks a stream against the rules of the specification: framing, fields and their limits, and the order of\n"
        "the messages of each source. With the program, the execution that the messages describe is checked, too.\n"
        "docs/check.md lists the rules.\n"
        "\n"
        "Severities: an error is something that no N-Trace 1.0 encoder may send; a warning depends on how the\n"
        "specification is read; a note is legal, but wasteful or understood differently by different decoders. The\n"
        "exit status is 0 when there is no error, 1 when there is one (see --fail-on), 2 when the trace cannot be\n"
        "read. After damage, the order of messages is not checked until the source synchronizes again. With --from and\n"
        "--until, the whole trace is checked and the findings between these points are reported.",
    .examples = "  ntrace check trace.nex -e program.elf\n"
                "  ntrace check trace.nex --format sarif -o trace.sarif\n"
                "  ntrace check trace.nex --rules icnt-limit,hist-limit --fail-on note\n"
                "  ntrace check --list-rules",
};
