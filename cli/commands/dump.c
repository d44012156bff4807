#include "options/options.h"
#include "io/defects.h"
#include "io/document.h"
#include "text/message_writer.h"
#include "text/quality.h"
#include "io/output.h"
#include "options/diagnostics.h"
#include "options/selection.h"
#include "io/message_window.h"
#include "io/trace.h"

#include <string.h>

struct dump_options {
    struct cli_stream stream;
    struct cli_selection selection;
    struct cli_result result;
    int bytes;
};

enum { DUMP_DOCUMENT = CLI_MESSAGE_NONE + 1 }; /* --format json */

static const struct cli_option dump_table[] = {
    CLI_CHOICE(
        0, "format", "text|jsonl|csv|none|json", struct dump_options, result.format, CLI_FORMAT_TEXT,
        "output format (default text); none: only parse and validate; json: one document with the messages and their "
        "quality"),
    CLI_FLAG(0, "bytes", struct dump_options, bytes,
             "with --format text: below each message, show its bytes with MDO, MSEO and the field that each byte "
             "completes"),
    {0},
};

static const struct cli_group groups[] = {
    CLI_OWN("options", dump_table),
    CLI_GROUP("output", cli_path_options, struct dump_options, result),
    CLI_GROUP("window", cli_selection_options, struct dump_options, selection),
    CLI_GROUP("stream", cli_stream_options, struct dump_options, stream),
    {0},
};

/* Of a JSON document. `bad` is the number of damaged messages. */
static void write_quality(const struct cli_trace *trace, bool whole, uint64_t bad, uint64_t bad_bytes,
                          struct cli_output *out) {
    struct cli_quality q = {.unfollowed = true,
                            .read = whole,
                            .messages = trace->reader.number,
                            .bytes = ntr_reader_offset(&trace->reader),
                            .lost_messages = bad,
                            .lost_bytes = bad_bytes};

    cli_quality_images(&q, trace);
    cli_quality_document(&q, out);
    cli_quality_release(&q);
}

static int dump_messages(struct cli_trace *trace, const struct cli_window *window, struct cli_message_writer *writer) {
    const bool whole = cli_window_is_whole(window);
    struct cli_message_window part;
    struct cli_defects defects = {.file = trace->input.name};
    ntr_message message;
    uint64_t bad = 0, bad_bytes = 0;
    bool behind = false, any = false;

    if (cli_message_window_open(&part, window, trace) != CLI_OK) return CLI_FAILED;
    while (!writer->out->done && !behind && cli_trace_message(trace, &message) == NTR_OK) {
        if (!whole && !cli_message_window_has(&part, &message, &behind)) continue;
        any = true;
        if (message.defect) {
            cli_defect_add(&defects, &trace->params, &message);
            bad++;
            bad_bytes += message.size;
        }
        cli_message_write(writer, &message);
    }
    cli_message_window_close(&part);
    write_quality(trace, whole, bad, bad_bytes, writer->out);
    return cli_trace_part_status(trace, window, any, cli_defect_summary(&defects));
}

/* Validates the whole trace without output. This is the fastest way to read it. */
static int check_messages(struct cli_trace *trace) {
    struct cli_defects defects = {.file = trace->input.name};
    ntr_message_mix mix = {0};
    ntr_message message;

    while (cli_trace_defect(trace, &mix, &message) == NTR_OK) cli_defect_add(&defects, &trace->params, &message);
    return cli_trace_status(trace, trace->reader.number != 0, cli_defect_summary(&defects));
}

static int dump_run(const void *options, char **operands) {
    const struct dump_options *o = options;
    struct cli_trace trace;
    struct cli_output out;
    struct cli_window window;

    if (cli_selection_window(&o->selection, &window) != CLI_OK) return CLI_FAILED;
    if (o->bytes && o->result.format != CLI_MESSAGE_TEXT) return cli_fail("--bytes requires --format text");
    if (cli_trace_open(&trace, operands[0], &o->stream, NULL) != CLI_OK) return CLI_FAILED;
    struct cli_result result = o->result;
    result.format = o->result.format == DUMP_DOCUMENT ? CLI_FORMAT_JSON : CLI_FORMAT_TEXT;
    int status = cli_trace_check_window(&trace, &window);
    if (status == CLI_OK) status = cli_document_open(&out, &result, "dump");
    if (status == CLI_OK) {
        struct cli_message_writer writer;
        const enum cli_message_form form =
            o->result.format == DUMP_DOCUMENT ? CLI_MESSAGE_JSONL : (enum cli_message_form)o->result.format;
        cli_message_writer_init(&writer, &out, &trace.params, form, o->bytes != 0);
        bool check = writer.form == CLI_MESSAGE_NONE && cli_window_is_whole(&window);
        status = cli_output_close(&out, check ? check_messages(&trace) : dump_messages(&trace, &window, &writer));
    }
    cli_trace_close(&trace);
    return status;
}

const struct cli_command cli_dump = {
    .operands = "TRACE",
    .min_operands = 1,
    .max_operands = 1,
    .groups = groups,
    .size = sizeof(struct dump_options),
    .run = dump_run,
    .next = "decode",
    .about = "Prints one line per message: its number, its byte offset in the stream, its name and its fields:\n"
             "\n"
             "  #12 @0x1f IndirectBranchHist BTYPE=0 ICNT=125 UADDR=0x7 HIST=0xffe\n"
             "\n"
             "A field that was sent with more bits than its value needs is followed by the number of bits,\n"
             "'ICNT=125:18'. The line of a damaged message ends with its bytes and the reason; the defect is also\n"
             "reported on standard error, and the exit status is 1. 'ntrace assemble' converts this text back to the\n"
             "same bytes.",
    .examples = "  ntrace dump trace.nex\n"
                "  ntrace dump --src-bits 4 --src 2 --format jsonl capture.nex.zst\n"
                "  ntrace dump --format none trace.nex && echo valid",
};
