#include "io/encode_source.h"
#include "io/lines.h"
#include "io/recognize.h"
#include "options/diagnostics.h"

#include <inttypes.h>
#include <string.h>

/* Reports an error of the library for the current line: `detail` if it is not empty, otherwise the text of `status`. */
static int report_error(const struct cli_lines *lines, const char *detail, ntr_status status) {
    return cli_fail("%s: line %" PRIu64 ": %s", lines->input.name, lines->number,
                    detail && *detail ? detail : ntr_status_text(status));
}

/* ---- program counters */

#define PCS_AT_ONCE 4096

static int push(struct cli_encode *e, const struct cli_lines *lines, const uint64_t *pcs, size_t count) {
    ntr_status status = ntr_classifier_push_many(e->classifier, pcs, count);

    e->counters += count;
    if (status == NTR_OK) return CLI_OK;
    const char *detail = ntr_classifier_error(e->classifier);
    return cli_fail("%s: %s", lines->input.name, *detail ? detail : ntr_status_text(status));
}

static int push_lines(struct cli_encode *e, struct cli_lines *lines) {
    uint64_t pcs[PCS_AT_ONCE];
    const char *text;
    size_t length, count = 0;
    bool any = false;

    while (!e->out->done && cli_lines_next(lines, &text, &length)) {
        if (length == 0 || *text == '#') continue;
        if (!cli_line_pc(text, length, false, &pcs[count])) /* a number without 0x might be decimal */
            return cli_fail("%s: line %" PRIu64 ": expected a program counter (0x...), found '%.*s'", lines->input.name,
                            lines->number, length > 40 ? 40 : (int)length, text);
        if (!cli_line_fit(e->xlen, &pcs[count]))
            return cli_fail("%s: line %" PRIu64 ": expected an address of 32 bits, found '%.*s'", lines->input.name,
                            lines->number, length > 40 ? 40 : (int)length, text);
        if (pcs[count] & 1)
            return cli_fail("%s: line %" PRIu64 ": expected an even program counter, found 0x%" PRIx64,
                            lines->input.name, lines->number, pcs[count]);
        if (++count < PCS_AT_ONCE) continue;
        if (push(e, lines, pcs, count) != CLI_OK) return CLI_FAILED;
        any = true;
        count = 0;
    }
    if (lines->failed) return CLI_FAILED;
    if (!any && count == 0)
        return cli_fail("%s: expected program counters (0x..., one per line), found none", lines->input.name);
    return push(e, lines, pcs, count);
}

int cli_encode_pcs(struct cli_encode *e, const char *path) {
    struct cli_lines lines;

    if (cli_refuse_text(path, "a list of program counters", "list of numbers") != CLI_OK) return CLI_FAILED;
    if (cli_lines_open(&lines, path) != CLI_OK) return CLI_FAILED;
    int status = push_lines(e, &lines);
    cli_lines_close(&lines);
    return status;
}

/* ---- ingress records */

static int push_records(struct cli_encode *e, struct cli_lines *lines) {
    ntr_ingress_reader reader;
    ntr_ingress block;
    const char *text;
    size_t length;

    ntr_ingress_reader_init(&reader);
    while (!e->out->done && cli_lines_next(lines, &text, &length)) {
        ntr_status status = ntr_ingress_read(&reader, text, length, &block);
        if (status == NTR_NEED_MORE) continue;
        if (status == NTR_OK && !cli_line_fit(e->xlen, &block.iaddr))
            return report_error(lines, "expected an iaddr of 32 bits", NTR_E_RANGE);
        if (status != NTR_OK) return report_error(lines, reader.error, status);
        status = ntr_encoder_push(e->encoder, &block);
        if (status != NTR_OK) return report_error(lines, ntr_encoder_error(e->encoder), status);
        status = reader.has_access ? ntr_encoder_access(e->encoder, &reader.access) : NTR_OK;
        const char *why = status == NTR_E_STATE
                              ? "a load or store, but the dialect has no data messages; --dialect nexus-data has"
                              : "";
        if (status != NTR_OK) return report_error(lines, why, status);
    }
    if (lines->failed) return CLI_FAILED;
    return reader.record ? CLI_OK : cli_fail("%s: expected ingress records, found none", lines->input.name);
}

int cli_encode_ingress(struct cli_encode *e, const char *path) {
    struct cli_lines lines;

    if (cli_refuse_text(path, "ingress records", "list of numbers") != CLI_OK) return CLI_FAILED;
    if (cli_lines_open(&lines, path) != CLI_OK) return CLI_FAILED;
    int status = push_records(e, &lines);
    cli_lines_close(&lines);
    return status;
}

/* ---- Spike logs */

/* Reports an error of the log reader, whose text starts with the line number, or of the classifier, whose text does
 * not. */
static int report_log_error(const struct cli_encode *e, const struct cli_lines *lines, const ntr_spike_log *log,
                            ntr_status status) {
    const char *detail = ntr_spike_log_error(log);

    return *detail ? cli_fail("%s: %s", lines->input.name, detail)
                   : report_error(lines, ntr_classifier_error(e->classifier), status);
}

static int push_log(struct cli_encode *e, struct cli_lines *lines, ntr_spike_log *log) {
    const char *text;
    size_t length;

    while (!e->out->done && cli_lines_next(lines, &text, &length)) {
        ntr_status status = ntr_spike_log_line(log, text, length);
        if (status != NTR_OK) return report_log_error(e, lines, log, status);
    }
    if (lines->failed) return CLI_FAILED;
    ntr_status status = ntr_spike_log_finish(log);
    if (status != NTR_OK) return report_log_error(e, lines, log, status);
    if (ntr_spike_log_count(log)) return CLI_OK;
    return cli_fail("%s: expected instructions of 'core %3u:', found none", lines->input.name, e->hart);
}

int cli_encode_spike(struct cli_encode *e, const char *path) {
    struct cli_lines lines;
    int status = CLI_FAILED;

    if (cli_refuse_text(path, "a log of Spike", "log of Spike") != CLI_OK) return CLI_FAILED;
    if (cli_lines_open(&lines, path) != CLI_OK) return CLI_FAILED;
    ntr_spike_log *log;
    ntr_spike_log_new(e->classifier, e->hart, e->xlen, NULL, &log);
    if (log)
        status = push_log(e, &lines, log);
    else
        cli_note("out of memory");
    ntr_spike_log_free(log);
    cli_lines_close(&lines);
    return status;
}

/* ---- logs of cores */

static int push_core_log(struct cli_encode *e, struct cli_lines *lines, ntr_core_log *log) {
    const char *text;
    size_t length;
    ntr_status status = NTR_OK;

    while (status == NTR_OK && !e->out->done && cli_lines_next(lines, &text, &length))
        status = ntr_core_log_line(log, text, length);
    if (lines->failed) return CLI_FAILED;
    if (status == NTR_OK) status = ntr_core_log_finish(log);
    const char *detail = ntr_core_log_error(log);
    if (status != NTR_OK && *detail) return cli_fail("%s: %s", lines->input.name, detail);
    if (status != NTR_OK) return report_error(lines, ntr_classifier_error(e->classifier), status);
    if (ntr_core_log_count(log)) return CLI_OK;
    return cli_fail("%s: expected instructions of hart %u, found none", lines->input.name, e->hart);
}

static int encode_core_log(struct cli_encode *e, const char *path, ntr_core_log_format format) {
    struct cli_lines lines;
    int status = CLI_FAILED;

    if (cli_lines_open(&lines, path) != CLI_OK) return CLI_FAILED;
    ntr_core_log *log;
    ntr_core_log_new(e->classifier, format, e->hart, e->xlen, NULL, &log);
    if (log)
        status = push_core_log(e, &lines, log);
    else
        cli_note("out of memory");
    ntr_core_log_free(log);
    cli_lines_close(&lines);
    return status;
}

int cli_encode_rvvi(struct cli_encode *e, const char *path) {
    if (cli_refuse_text(path, "a log in RVVI-TEXT", "RVVI-TEXT") != CLI_OK) return CLI_FAILED;
    return encode_core_log(e, path, NTR_CORE_LOG_RVVI);
}

int cli_encode_rvfi(struct cli_encode *e, const char *path) {
    if (cli_refuse_text(path, "a table of RVFI signals", "RVFI") != CLI_OK) return CLI_FAILED;
    return encode_core_log(e, path, NTR_CORE_LOG_RVFI);
}
