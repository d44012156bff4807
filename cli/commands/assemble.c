#include "options/options.h"
#include "io/lines.h"
#include "io/recognize.h"
#include "io/output.h"
#include "options/diagnostics.h"
#include "options/stream_options.h"

#include <inttypes.h>
#include <ntrace/export.h>
#include <ntrace/message.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

struct assemble_options {
    struct cli_stream stream;
    struct cli_result result;
};

static const struct cli_group groups[] = {
    CLI_GROUP("output", cli_path_options, struct assemble_options, result),
    CLI_GROUP("stream", cli_stream_options, struct assemble_options, stream),
    {0},
};

static int report_error(const struct cli_lines *lines, const char *line, size_t column, int status) {
    const char *word = line + column;
    int size = (int)strcspn(word, " \t,");

    return cli_fail("%s: line %" PRIu64 ", column %zu: %s, found '%.*s'", lines->input.name, lines->number, column + 1,
                    ntr_status_text((ntr_status)status), size > 60 ? 60 : size, size ? word : "");
}

static int assemble_line(const ntr_params *params, const struct cli_lines *lines, const char *line,
                         struct cli_output *out) {
    size_t column = 0;
    uint8_t *bytes = (uint8_t *)cli_output_reserve(out, CLI_OUTPUT_RESERVE_MAX);
    bool is_json = line[strspn(line, " \t\r\n")] == '{';
    int size = is_json ? ntr_message_assemble_json(params, line, bytes, CLI_OUTPUT_RESERVE_MAX, &column)
                       : ntr_message_assemble(params, line, bytes, CLI_OUTPUT_RESERVE_MAX, &column);

    if (size < 0) return report_error(lines, line, column, size);
    cli_output_commit(out, (size_t)size);
    return CLI_OK;
}

static int assemble_lines(const ntr_params *params, struct cli_lines *lines, struct cli_output *out) {
    char line[CLI_LINE_MAX + 1];
    const char *text;
    size_t length;

    while (!out->done && cli_lines_next(lines, &text, &length)) {
        const char *nul = memchr(text, 0, length);
        if (nul)
            return cli_fail("%s: line %" PRIu64 ", column %td: expected text, found a zero byte", lines->input.name,
                            lines->number, nul - text + 1);
        memcpy(line, text, length);
        line[length] = 0;
        int status = assemble_line(params, lines, line, out);
        if (status != CLI_OK) return status;
    }
    return lines->failed ? CLI_FAILED : CLI_OK;
}

static int assemble_run(const void *options, char **operands) {
    const struct assemble_options *o = options;
    struct cli_lines lines;
    struct cli_output out;
    ntr_params params;

    if (o->stream.infer) return cli_fail("--auto: the input is text, parameters cannot be inferred from it");
    if (cli_stream_params(&o->stream, NULL, &params) != CLI_OK) return CLI_FAILED;
    if (!o->result.path && isatty(STDOUT_FILENO)) return cli_refuse_terminal();
    if (cli_refuse_text(operands[0], "the text of messages", "the text of messages") != CLI_OK) return CLI_FAILED;
    if (cli_lines_open(&lines, operands[0]) != CLI_OK) return CLI_FAILED;
    int status = cli_output_open(&out, o->result.path);
    if (status == CLI_OK) status = cli_output_close(&out, assemble_lines(&params, &lines, &out));
    cli_lines_close(&lines);
    return status;
}

const struct cli_command cli_assemble = {
    .operands = "FILE",
    .min_operands = 1,
    .max_operands = 1,
    .groups = groups,
    .size = sizeof(struct assemble_options),
    .run = assemble_run,
    .about = "The inverse of 'ntrace dump': reads messages as text or JSON lines and writes their bytes. Message\n"
             "numbers and offsets ('#12 @0x1f') are optional. Blank lines and comments are skipped. An error is\n"
             "reported with its line and column; the output file is then not written.",
    .examples = "  ntrace dump trace.nex | ntrace assemble - -o copy.nex\n"
                "  printf 'ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80\\n' | ntrace assemble - | xxd",
};
