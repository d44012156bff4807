#include "text/annotate.h"
#include "commands/analysis.h"
#include "options/command.h"
#include "io/output.h"
#include "options/diagnostics.h"
#include "options/result.h"

#include <inttypes.h>
#include <ntrace/profile.h>
#include <stdio.h>
#include <string.h>

struct profile_options {
    struct cli_analysis_options analysis;
    struct cli_result result;
    int by;
    int64_t top;
    int sort;
    struct cli_list annotate;
};

#define S struct profile_options
static const struct cli_option profile_table[] = {
    CLI_CHOICE(0, "by", "function|line|instruction|hart|context", S, by, NTR_PROFILE_FUNCTION,
               "unit of a row (default function)"),
    CLI_CHOICE(0, "sort", "self|total|calls|ticks|total-ticks", S, sort, NTR_PROFILE_KEY_SELF,
               "sort rows by instructions (self, default; total), calls, or time if the trace has timestamps (ticks; "
               "total-ticks)"),
    CLI_NUMBER(0, "top", "N", S, top, 0, INT64_MAX, -1,
               "print only the first N rows (default: 40 with --format text, otherwise all; --annotate: 10 functions)"),
    {
        .kind = CLI_KIND_LIST,
        .argument = CLI_ARGUMENT_OPTIONAL,
        .name = "annotate",
        .value = "FUNCTION",
        .member = offsetof(S, annotate),
        .help =
            "print source and disassembly with counts and branch outcomes of FUNCTION (repeatable; default: the "
            "functions "
            "with the most instructions)",
    },
    {0},
};
#undef S

static const struct cli_group groups[] = {
    CLI_OWN("options", profile_table),
    CLI_GROUP("output", cli_result_options, struct profile_options, result),
    CLI_GROUP("trace", cli_analysis_options, struct profile_options, analysis),
    CLI_GROUP("program", cli_image_options, struct profile_options, analysis.images),
    CLI_GROUP("the stream", cli_stream_options, struct profile_options, analysis.stream),
    {0},
};

enum { TEXT_ROWS = 40 };

struct profile_writer {
    struct cli_output *out;
    ntr_profile_by by;
    const ntr_profile *profile;
};

static double percent(uint64_t part, uint64_t whole) {
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* ---- text */

/* Returns whether the name of the row consists of the image and an address, "libc.so.6+0x27f10". */
static bool named_by_image(const ntr_profile_row *row, const char *image) {
    const size_t length = strlen(image);

    return row->name && strncmp(row->name, image, length) == 0 && strncmp(row->name + length, "+0x", 3) == 0;
}

/* Writes file and line, or the image if they are not known. */
static void write_place(struct cli_output *out, const ntr_profile_row *row) {
    const char *slash = row->image ? strrchr(row->image, '/') : NULL;
    const char *image = slash ? slash + 1 : row->image;

    if (row->file)
        cli_output_print(out, "  %s:%" PRIu32, row->file, row->line);
    else if (image && !named_by_image(row, image))
        cli_output_print(out, "  (%s)", image);
}

static void write_context(struct cli_output *out, const ntr_profile_row *row) {
    cli_output_print(out, "src %u", row->src);
    if (row->context.prv != NTR_PRV_UNKNOWN)
        cli_output_print(out, "  %s%s", row->context.v ? "V" : "",
                         row->context.prv == 0 ? "U" : row->context.prv == 1 ? "S" : "M");
    if (row->context.has_scontext) cli_output_print(out, "  scontext %" PRIu64, row->context.scontext);
    if (row->context.has_hcontext) cli_output_print(out, "  hcontext %" PRIu64, row->context.hcontext);
}

static void write_label(const struct profile_writer *w, const ntr_profile_row *row) {
    switch (w->by) {
    case NTR_PROFILE_FUNCTION: cli_output_text(w->out, row->name ? row->name : "[unknown]"); break;
    case NTR_PROFILE_LINE:
        cli_output_print(w->out, "%s:%" PRIu32 "  ", row->file ? row->file : "?", row->line);
        cli_output_text(w->out, row->name ? row->name : "[unknown]");
        return;
    case NTR_PROFILE_INSTRUCTION:
        cli_output_print(w->out, "0x%" PRIx64 "  ", row->address);
        cli_output_text(w->out, row->name ? row->name : "[unknown]");
        break;
    case NTR_PROFILE_HART: cli_output_print(w->out, "src %u", row->src); return;
    case NTR_PROFILE_CONTEXT: write_context(w->out, row); return;
    }
    write_place(w->out, row);
}

static void write_text_row(const struct profile_writer *w, const ntr_profile_row *row) {
    const ntr_profile *p = w->profile;

    cli_output_print(w->out, "%15" PRIu64 " %6.2f %%", row->self, percent(row->self, p->instructions));
    if (w->by == NTR_PROFILE_FUNCTION)
        cli_output_print(w->out, " %15" PRIu64 " %6.2f %% %12" PRIu64, row->total,
                         percent(row->total, p->instructions), row->calls);
    if (p->ticks)
        cli_output_print(w->out, " %15" PRIu64 " %6.2f %%", row->self_ticks, percent(row->self_ticks, p->ticks));
    cli_output_text(w->out, "  ");
    write_label(w, row);
    cli_output_text(w->out, "\n");
}

static void write_text(const struct profile_writer *w, size_t rows) {
    static const char *const labels[] = {"function", "line", "instruction", "hart", "context"};

    cli_output_print(w->out, "# %" PRIu64 " instructions\n", w->profile->instructions);
    cli_output_print(w->out, "#%14s %8s", "self", "");
    if (w->by == NTR_PROFILE_FUNCTION) cli_output_print(w->out, " %15s %8s %12s", "total", "", "calls");
    if (w->profile->ticks) cli_output_print(w->out, " %15s %8s", "ticks", "");
    cli_output_print(w->out, "  %s\n", labels[w->by]);
    for (size_t i = 0; i < rows; i++) write_text_row(w, &w->profile->rows[i]);
    if (rows < w->profile->count)
        cli_output_print(w->out, "# and %zu more rows (--top)\n", w->profile->count - rows);
}

/* ---- JSON lines and CSV: all columns, whatever the unit of a row */

static void json_text(struct cli_output *out, const char *key, const char *value) {
    if (!value) return;
    cli_output_print(out, ",\"%s\":", key);
    cli_output_json(out, value);
}

static void write_json_row(const struct profile_writer *w, const ntr_profile_row *row) {
    cli_output_print(w->out, "{\"self\":%" PRIu64 ",\"total\":%" PRIu64 ",\"calls\":%" PRIu64, row->self, row->total,
                     row->calls);
    if (w->profile->ticks)
        cli_output_print(w->out, ",\"self_ticks\":%" PRIu64 ",\"total_ticks\":%" PRIu64, row->self_ticks,
                         row->total_ticks);
    json_text(w->out, "function", row->name);
    json_text(w->out, "file", row->file);
    if (row->file) cli_output_print(w->out, ",\"line\":%" PRIu32, row->line);
    json_text(w->out, "image", row->image);
    if (w->by < NTR_PROFILE_HART) cli_output_print(w->out, ",\"address\":\"0x%" PRIx64 "\"", row->address);
    if (w->by >= NTR_PROFILE_HART) cli_output_print(w->out, ",\"src\":%u", row->src);
    if (w->by == NTR_PROFILE_CONTEXT && row->context.prv != NTR_PRV_UNKNOWN)
        cli_output_print(w->out, ",\"prv\":%u,\"v\":%u", row->context.prv, row->context.v);
    if (w->by == NTR_PROFILE_CONTEXT && row->context.has_scontext)
        cli_output_print(w->out, ",\"scontext\":%" PRIu64, row->context.scontext);
    if (w->by == NTR_PROFILE_CONTEXT && row->context.has_hcontext)
        cli_output_print(w->out, ",\"hcontext\":%" PRIu64, row->context.hcontext);
    cli_output_text(w->out, "}\n");
}

static void csv_text(struct cli_output *out, const char *text) {
    enum { NAME_BYTES_MAX = 4096 };
    char name[NAME_BYTES_MAX + 1], cell[2 * NAME_BYTES_MAX + 2];

    snprintf(name, sizeof name, "%s", text ? text : "");
    cli_output_text(out, ",");
    cli_output_write(out, cell, (size_t)(cli_put_csv(cell, name) - cell));
}

static void write_csv_row(const struct profile_writer *w, const ntr_profile_row *row) {
    cli_output_print(w->out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",0x%" PRIx64 ",%u", row->self,
                     row->total, row->calls, row->self_ticks, row->total_ticks, row->address, row->src);
    csv_text(w->out, row->name);
    csv_text(w->out, row->file);
    cli_output_print(w->out, ",%" PRIu32 "\n", row->line);
}

static void write_rows(const struct profile_writer *w, enum cli_format format, int64_t top) {
    size_t rows = w->profile->count;

    if (top < 0 && format == CLI_FORMAT_TEXT) top = TEXT_ROWS;
    if (top >= 0 && (uint64_t)top < rows) rows = (size_t)top;
    if (format == CLI_FORMAT_TEXT) {
        write_text(w, rows);
        return;
    }
    if (format == CLI_FORMAT_CSV)
        cli_output_text(w->out, "self,total,calls,self_ticks,total_ticks,address,src,function,file,line\n");
    for (size_t i = 0; i < rows; i++)
        (format == CLI_FORMAT_CSV ? write_csv_row : write_json_row)(w, &w->profile->rows[i]);
}

/* ---- */

static int show(struct cli_analysis *a, const struct profile_options *o, int status) {
    struct cli_output out;
    ntr_profile profile;
    const ntr_profile_by by = (ntr_profile_by)o->by;
    const ntr_analysis *x = &a->data;

    if (ntr_profile_make(&profile, by, x->program, x->debug, x->functions, x->tree, x->tally, NULL) != NTR_OK)
        return cli_fail("%s: out of memory", a->path);
    ntr_profile_sort(&profile, (ntr_profile_key)o->sort);
    if (cli_output_open(&out, o->result.path) != CLI_OK) {
        status = CLI_FAILED;
    } else {
        const struct profile_writer w = {&out, by, &profile};
        write_rows(&w, (enum cli_format)o->result.format, o->top);
        status = cli_output_close(&out, status);
    }
    ntr_profile_release(&profile);
    return status;
}

static unsigned needs(const struct profile_options *o) {
    if (o->annotate.count) return NTR_NEEDS_TALLY;
    return o->by == NTR_PROFILE_FUNCTION ? NTR_NEEDS_TREE : NTR_NEEDS_TALLY;
}

/* Returns whether the tally must attribute time to rows. A call tree does this itself. */
static bool wants_time(const struct profile_options *o) {
    return !(needs(o) & NTR_NEEDS_TREE) && !o->annotate.count;
}

static int annotate(struct cli_analysis *a, const struct profile_options *o, int status) {
    const struct cli_annotate_options how = {
        .functions = &o->annotate,
        .format = (enum cli_format)o->result.format,
        .top = o->top,
    };
    struct cli_output out;

    if (cli_output_open(&out, o->result.path) != CLI_OK) return CLI_FAILED;
    int wrote = cli_annotate(&a->data, &how, &out);
    return cli_output_close(&out, wrote == CLI_OK ? status : wrote);
}

static int profile_run(const void *options, char **operands) {
    const struct profile_options *o = options;
    struct cli_analysis a;

    if (o->annotate.count && (o->by != NTR_PROFILE_FUNCTION || o->sort != NTR_PROFILE_KEY_SELF))
        return cli_fail("--annotate cannot be combined with --by and --sort");
    int status = cli_analysis_open(&a, operands[0], &o->analysis);
    if (status == CLI_OK) status = cli_analysis_need(&a, needs(o));
    a.keep_time = wants_time(o);
    if (status == CLI_OK) status = cli_analysis_run(&a, NULL, NULL);
    if (status != CLI_FAILED) status = (o->annotate.count ? annotate : show)(&a, o, status);
    cli_analysis_close(&a);
    return status;
}

const struct cli_command cli_profile = {
    .operands = "TRACE",
    .min_operands = 1,
    .max_operands = 1,
    .groups = groups,
    .size = sizeof(struct profile_options),
    .run = profile_run,
    .about = "Counts the executed instructions. Every instruction is counted; nothing is sampled. 'self' is the\n"
             "number of instructions in the code of the row itself, 'total' includes the functions it called (a\n"
             "recursive function counts once), 'calls' is how often the function was entered. If the trace has\n"
             "timestamps, 'ticks' is the time.\n"
             "\n"
             "--annotate prints functions instruction by instruction below their source lines, with the execution\n"
             "count of each instruction and, for conditional branches, how often they were taken and not taken.\n"
             "Instructions that were not executed are included.\n"
             "\n"
             "Gaps in the trace are reported on standard error. Instructions executed in a gap are not counted.",
    .examples = "  ntrace profile hello.ntrace\n"
                "  ntrace profile --by line --top 20 trace.nex -e firmware.elf --src-bits 2\n"
                "  ntrace profile --annotate=main hello.ntrace\n"
                "  ntrace profile --format csv -o profile.csv hello.ntrace",
};
