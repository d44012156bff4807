#include "options/options.h"
#include "io/defects.h"
#include "io/document.h"
#include "text/quality.h"
#include "io/output.h"
#include "options/diagnostics.h"
#include "options/selection.h"
#include "io/message_window.h"
#include "io/trace.h"

#include <string.h>
#include <ntrace/message.h>
#include <ntrace/message_layout.h>

/* ---- messages as text, JSON lines or CSV (docs/output.md, "dump") */

enum message_form { MESSAGE_TEXT, MESSAGE_JSONL, MESSAGE_CSV, MESSAGE_NONE };

struct message_writer {
    struct cli_output *out;
    const ntr_params *params;
    enum message_form form;
    bool bytes; /* text: also write each byte (--bytes) */
};

_Static_assert(NTR_MESSAGE_TEXT_MAX + 1 <= CLI_OUTPUT_RESERVE_MAX, "a message line fits the reserved space");

typedef int (*format_message)(const ntr_params *params, const ntr_message *message, char *out, size_t capacity);

static const format_message formats[] = {
    [MESSAGE_TEXT] = ntr_message_format,
    [MESSAGE_JSONL] = ntr_message_format_json,
    [MESSAGE_CSV] = ntr_message_format_csv,
};

static void write_line(struct message_writer *w, const ntr_message *m) {
    char *line = cli_output_reserve(w->out, NTR_MESSAGE_TEXT_MAX + 1);
    int size = formats[w->form](w->params, m, line, NTR_MESSAGE_TEXT_MAX + 1);

    if (size < 0) return; /* does not occur: the capacity is the documented maximum */
    line[size] = '\n';
    cli_output_commit(w->out, (size_t)size + 1);
}

/* ---- --bytes: written as comment lines, which `ntrace assemble` skips */

static void write_byte(struct message_writer *w, const ntr_message *m, size_t index) {
    ntr_message_byte byte;
    char mdo[7] = {0};

    if (ntr_message_byte_at(w->params, m, index, &byte) != NTR_OK) return;
    for (unsigned i = 0; i < 6; i++) mdo[i] = (char)('0' + (byte.mdo >> (5 - i) & 1));
    cli_output_print(w->out, "    # @0x%llx %02x MDO=%s MSEO=%u%u", (unsigned long long)(m->offset + index),
                     m->raw.data[index], mdo, byte.mseo >> 1, byte.mseo & 1);
    if (byte.tcode) cli_output_print(w->out, " TCODE=%u", m->tcode);
    if (byte.data) cli_output_text(w->out, " DATA");
    for (ntr_fields left = byte.ends; left; left &= left - 1) {
        ntr_field field = (ntr_field)__builtin_ctzll(left);
        bool hex = ntr_field_get(field)->base == NTR_BASE_HEX;
        cli_output_print(w->out, hex ? " %s=0x%llx" : " %s=%llu", ntr_field_name(field),
                         (unsigned long long)m->value[field]);
    }
    cli_output_text(w->out, "\n");
}

/* Writes the column names if the form is CSV. */
static void begin_messages(struct message_writer *writer, struct cli_output *out, const ntr_params *params,
                           enum message_form form, bool bytes) {
    *writer = (struct message_writer){out, params, form, bytes};
    if (form == MESSAGE_CSV) write_line(writer, NULL);
}

static void write_message(struct message_writer *writer, const ntr_message *message) {
    if (writer->form == MESSAGE_NONE) return;
    write_line(writer, message);
    if (!writer->bytes) return;
    for (size_t i = 0; i < message->raw.size; i++) write_byte(writer, message, i);
}

/* ---- the command */

struct dump_options {
    struct cli_stream stream;
    struct cli_selection selection;
    struct cli_result result;
    int bytes;
};

enum { DUMP_DOCUMENT = MESSAGE_NONE + 1 }; /* --format json */

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

static int dump_messages(struct cli_trace *trace, const struct cli_window *window, struct message_writer *writer) {
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
        write_message(writer, &message);
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
    if (o->bytes && o->result.format != MESSAGE_TEXT) return cli_fail("--bytes requires --format text");
    if (cli_trace_open(&trace, operands[0], &o->stream, NULL) != CLI_OK) return CLI_FAILED;
    struct cli_result result = o->result;
    result.format = o->result.format == DUMP_DOCUMENT ? CLI_FORMAT_JSON : CLI_FORMAT_TEXT;
    int status = cli_trace_check_window(&trace, &window);
    if (status == CLI_OK) status = cli_document_open(&out, &result, "dump");
    if (status == CLI_OK) {
        struct message_writer writer;
        const enum message_form form =
            o->result.format == DUMP_DOCUMENT ? MESSAGE_JSONL : (enum message_form)o->result.format;
        begin_messages(&writer, &out, &trace.params, form, o->bytes != 0);
        bool check = writer.form == MESSAGE_NONE && cli_window_is_whole(&window);
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
