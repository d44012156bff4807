#include "text/findings.h"
#include "text/symbol_text.h"

#include <ntrace/version.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Size of a line; longer lines are truncated. */
#define LINE_SIZE (1024 + CLI_SYMBOL_MAX)

/* ---- parts of a line */

struct finding_text {
    char text[LINE_SIZE];
    size_t length;
};

static void append(struct finding_text *w, const char *form, ...) __attribute__((format(printf, 2, 3)));

static void append(struct finding_text *w, const char *form, ...) {
    va_list values;

    va_start(values, form);
    int n = vsnprintf(w->text + w->length, sizeof w->text - w->length, form, values);
    va_end(values);
    if (n > 0) w->length += (size_t)n;
    if (w->length >= sizeof w->text) w->length = sizeof w->text - 1;
}

/* "byte 0x1f, message #12 DirectBranch, field ICNT" */
static void add_place(struct finding_text *w, const struct cli_findings *f, const ntr_finding *finding) {
    const char *field = ntr_field_name((ntr_field)finding->field);

    append(w, "byte 0x%" PRIx64 ", message #%" PRIu64, finding->offset, finding->message);
    if (finding->at) append(w, " %s", ntr_tcode_name(f->params->dialect, finding->tcode));
    if (finding->has_source) append(w, " of source %u", finding->src);
    if (field) append(w, ", field %s", field);
}

static void add_value(struct finding_text *w, const ntr_finding *finding) {
    const ntr_field field = (ntr_field)finding->field;
    const ntr_field_info *info = ntr_field_get(field);
    const uint64_t value = finding->at->value[finding->field];

    append(w, info->base == NTR_BASE_HEX ? "%s=0x%" PRIx64 : "%s=%" PRIu64, info->name, value);
}

static void add_message(struct finding_text *w, const struct cli_findings *f, const ntr_message *message) {
    char text[NTR_MESSAGE_TEXT_MAX];

    if (ntr_message_format(f->params, message, text, sizeof text) < 0) return;
    const char *words = strchr(text, ' '); /* after the number */
    words = words ? strchr(words + 1, ' ') : NULL;
    append(w, "%.200s", words ? words + 1 : text);
}

/* Adds what was found: the value of the field, or the message, or the address of execution. */
static void add_found(struct finding_text *w, const struct cli_findings *f, const ntr_finding *finding) {
    const bool has_field =
        finding->at && finding->field < NTR_FIELD_COUNT && (finding->at->present >> finding->field & 1);

    if (has_field) {
        add_value(w, finding);
    } else if (finding->at) {
        add_message(w, f, finding->at);
    } else if (finding->has_address) {
        char symbol[CLI_SYMBOL_MAX + 1] = "";
        if (f->program)
            *cli_put_symbol(symbol, " (", ")", f->program, ntr_place_at(NULL, finding->offset, finding->address)) =
                '\0';
        append(w, "execution at 0x%" PRIx64 "%s", finding->address, symbol);
    } else {
        append(w, "execution at an unknown address");
    }
}

/* ---- text */

static void add_line(struct finding_text *w, const struct cli_findings *f, const ntr_finding *finding) {
    add_place(w, f, finding);
    append(w, ": %s: %s [%s, section %s, %s], found ", ntr_severity_name((ntr_severity)finding->severity),
           finding->rule->about, finding->rule->id, finding->rule->section, finding->rule->statements);
    add_found(w, f, finding);
}

static void text_add(struct cli_findings *f, const ntr_finding *finding) {
    struct finding_text w = {.length = 0};

    add_line(&w, f, finding);
    cli_output_print(f->out, "%s: %s\n", f->file, w.text);
}

static void text_end(struct cli_findings *f, uint64_t messages, int status) {
    const ntr_check_rule *rule;

    (void)status;
    for (size_t i = 0; (rule = ntr_check_rule_at(i)); i++)
        if (f->rules[i].count > f->max)
            cli_output_print(f->out, "%s: %" PRIu64 " more of %s\n", f->file, f->rules[i].count - f->max, rule->id);
    cli_output_print(f->out, "%s: %" PRIu64 " messages, %" PRIu64 " errors, %" PRIu64 " warnings, %" PRIu64 " notes\n",
                     f->file, messages, f->by_severity[NTR_SEVERITY_ERROR], f->by_severity[NTR_SEVERITY_WARNING],
                     f->by_severity[NTR_SEVERITY_NOTE]);
}

/* ---- JSON lines */

static void jsonl_add(struct cli_findings *f, const ntr_finding *finding) {
    const char *field = ntr_field_name((ntr_field)finding->field);
    struct finding_text found = {.length = 0};

    cli_output_print(f->out,
                     "{\"rule\":\"%s\",\"severity\":\"%s\",\"section\":\"%s\",\"statements\":\"%s\",\"offset\":%" PRIu64
                     ",\"size\":%" PRIu64 ",\"message\":%" PRIu64 ",\"name\":",
                     finding->rule->id, ntr_severity_name((ntr_severity)finding->severity), finding->rule->section,
                     finding->rule->statements, finding->offset, finding->size, finding->message);
    if (finding->at)
        cli_output_json(f->out, ntr_tcode_name(f->params->dialect, finding->tcode));
    else
        cli_output_text(f->out, "null");
    cli_output_print(f->out, ",\"src\":%u,\"field\":", finding->src);
    if (field)
        cli_output_json(f->out, field);
    else
        cli_output_text(f->out, "null");
    if (finding->has_address) cli_output_print(f->out, ",\"address\":\"0x%" PRIx64 "\"", finding->address);
    cli_output_text(f->out, ",\"expected\":");
    cli_output_json(f->out, finding->rule->about);
    add_found(&found, f, finding);
    cli_output_text(f->out, ",\"found\":");
    cli_output_json(f->out, found.text);
    cli_output_text(f->out, "}\n");
}

/* ---- SARIF 2.1.0 */

/* Writes a file name as a relative URI reference. */
static void sarif_uri(struct cli_output *out, const char *path) {
    static const char unreserved[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";

    cli_output_text(out, "\"");
    for (; *path; path++) {
        if (strchr(unreserved, *path))
            cli_output_write(out, path, 1);
        else
            cli_output_print(out, "%%%02X", (unsigned char)*path);
    }
    cli_output_text(out, "\"");
}

static void sarif_rule(struct cli_output *out, const ntr_check_rule *rule) {
    char section[64];

    cli_output_print(out, "{\"id\":\"%s\",\"shortDescription\":{\"text\":", rule->id);
    cli_output_json(out, rule->about);
    cli_output_text(out, "},\"fullDescription\":{\"text\":");
    snprintf(section, sizeof section, "N-Trace 1.0, section %s: %s.", rule->section, rule->statements);
    cli_output_json(out, section);
    cli_output_text(out, "},\"help\":{\"text\":");
    cli_output_json(out, rule->breaking);
    cli_output_print(out, "},\"defaultConfiguration\":{\"level\":\"%s\"}}",
                     ntr_severity_name((ntr_severity)rule->severity));
}

static void sarif_begin(struct cli_findings *f) {
    const ntr_check_rule *rule;

    cli_output_text(f->out,
                    "{\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\",\"version\":\"2.1.0\",\"runs\":[{\n"
                    "\"tool\":{\"driver\":{\"name\":\"ntrace\",\"version\":\"" NTR_VERSION_TEXT "\",\"rules\":[");
    for (size_t i = 0; (rule = ntr_check_rule_at(i)); i++) {
        cli_output_text(f->out, i ? ",\n" : "\n");
        sarif_rule(f->out, rule);
    }
    cli_output_text(f->out, "]}},\n\"artifacts\":[{\"location\":{\"uri\":");
    sarif_uri(f->out, f->file);
    cli_output_text(f->out, "}}],\n\"results\":[");
}

static void sarif_add(struct cli_findings *f, const ntr_finding *finding) {
    struct finding_text text = {.length = 0};

    add_line(&text, f, finding);
    cli_output_print(f->out, "%s\n{\"ruleId\":\"%s\",\"ruleIndex\":%zu,\"level\":\"%s\",\"message\":{\"text\":",
                     f->reported > 1 ? "," : "", finding->rule->id, finding->index,
                     ntr_severity_name((ntr_severity)finding->severity));
    cli_output_json(f->out, text.text);
    cli_output_text(f->out, "},\"locations\":[{\"physicalLocation\":{\"artifactLocation\":{\"uri\":");
    sarif_uri(f->out, f->file);
    cli_output_print(f->out, ",\"index\":0},\"region\":{\"byteOffset\":%" PRIu64, finding->offset);
    if (finding->size) cli_output_print(f->out, ",\"byteLength\":%" PRIu64, finding->size);
    cli_output_print(f->out,
                     "}},\"logicalLocations\":[{\"fullyQualifiedName\":\"src %u/message %" PRIu64
                     "\"}]}],\"properties\":{\"message\":%" PRIu64 "}}",
                     finding->src, finding->message, finding->message);
}

static void sarif_end(struct cli_findings *f, uint64_t messages, int status) {
    (void)messages;
    cli_output_print(f->out, "],\n\"invocations\":[{\"executionSuccessful\":true,\"exitCode\":%d}]}]}\n", status);
}

/* ---- JUnit: one test case per rule */

static void junit_add(struct cli_findings *f, const ntr_finding *finding) {
    struct cli_rule_tally *t = &f->rules[finding->index];
    struct finding_text w = {.length = 0};

    add_line(&w, f, finding);
    append(&w, "\n");
    if (t->capacity - t->length <= w.length) {
        size_t capacity = t->capacity * 2 + w.length + 1;
        char *text = realloc(t->text, capacity);
        if (!text) return; /* only counted */
        t->text = text;
        t->capacity = capacity;
    }
    memcpy(t->text + t->length, w.text, w.length + 1);
    t->length += w.length;
}

static bool fails(const struct cli_rule_tally *t) {
    return t->count && t->severity == NTR_SEVERITY_ERROR;
}

static void junit_case(struct cli_findings *f, const ntr_check_rule *rule, const struct cli_rule_tally *t) {
    cli_output_print(f->out, "<testcase classname=\"ntrace.check.section-%s\" name=\"%s\" time=\"0\">", rule->section,
                     rule->id);
    if (t->count) {
        cli_output_text(f->out, fails(t) ? "<failure type=\"error\" message=\"" : "<system-out>");
        cli_output_xml(f->out, rule->about);
        cli_output_print(f->out, "%s%" PRIu64 " found%s", fails(t) ? ": " : ": ", t->count, fails(t) ? "\">" : "\n");
        cli_output_xml(f->out, t->text ? t->text : "");
        cli_output_text(f->out, fails(t) ? "</failure>" : "</system-out>");
    }
    cli_output_text(f->out, "</testcase>\n");
}

static void junit_end(struct cli_findings *f, uint64_t messages, int status) {
    const ntr_check_rule *rule;
    size_t count = 0, failures = 0;

    (void)messages, (void)status;
    for (; ntr_check_rule_at(count); count++) failures += fails(&f->rules[count]);
    cli_output_print(
        f->out,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"%zu\" failures=\"%zu\" errors=\"0\" "
        "skipped=\"0\" time=\"0\">\n<testsuite name=\"",
        count, failures);
    cli_output_xml(f->out, f->file);
    cli_output_print(f->out, "\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"0\" time=\"0\">\n", count,
                     failures);
    for (size_t i = 0; (rule = ntr_check_rule_at(i)); i++) junit_case(f, rule, &f->rules[i]);
    cli_output_text(f->out, "</testsuite>\n</testsuites>\n");
}

/* ---- */

static const struct form {
    void (*begin)(struct cli_findings *);
    void (*append)(struct cli_findings *, const ntr_finding *);
    void (*end)(struct cli_findings *, uint64_t messages, int status);
} forms[] = {
    [CLI_FINDINGS_TEXT] = {NULL, text_add, text_end},
    [CLI_FINDINGS_JSONL] = {NULL, jsonl_add, NULL},
    [CLI_FINDINGS_SARIF] = {sarif_begin, sarif_add, sarif_end},
    [CLI_FINDINGS_JUNIT] = {NULL, junit_add, junit_end},
};

void cli_findings_begin(struct cli_findings *f, enum cli_findings_format format) {
    if (forms[format].begin) forms[format].begin(f);
}

void cli_findings_add(struct cli_findings *f, enum cli_findings_format format, const ntr_finding *finding) {
    struct cli_rule_tally *t = &f->rules[finding->index];

    f->by_severity[finding->severity]++;
    t->severity = finding->severity;
    if (++t->count > f->max) return;
    f->reported++;
    forms[format].append(f, finding);
}

void cli_findings_end(struct cli_findings *f, enum cli_findings_format format, uint64_t messages, int status) {
    if (forms[format].end) forms[format].end(f, messages, status);
}

void cli_findings_free(struct cli_findings *f) {
    for (size_t i = 0; i < CLI_RULES_MAX; i++) free(f->rules[i].text);
}
