#include "commands/profile/output.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_ROWS = 40 };

static double percent(uint64_t part, uint64_t whole) {
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* ---- text */

/* Returns whether rows have a total and a number of calls. */
static bool has_calls(const struct cli_profile_writer *w) {
    return w->by == NTR_PROFILE_FUNCTION || w->by == NTR_PROFILE_IMAGE;
}

static bool same_text(const char *a, const char *b) {
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Returns whether another function without a source has the name of the row, in the same image. */
static bool has_namesake(const struct cli_profile_writer *w, const ntr_profile_row *row) {
    for (size_t i = 0; w->by == NTR_PROFILE_FUNCTION && i < w->profile->count; i++) {
        const ntr_profile_row *other = &w->profile->rows[i];
        if (other != row && !other->file && same_text(other->name, row->name) && same_text(other->image, row->image))
            return true;
    }
    return false;
}

/* Writes file and line. If they are not known, writes the image, with the address of a function that shares its name.
 */
static void write_place(const struct cli_profile_writer *w, const ntr_profile_row *row) {
    struct cli_output *out = w->out;
    const char *slash = row->image ? strrchr(row->image, '/') : NULL;
    const char *image = slash ? slash + 1 : row->image;

    if (row->file) {
        cli_output_text(out, "  ");
        cli_output_source(out, row->file, row->line);
    } else if (image && !cli_is_named_by_image(row->name, image))
        cli_output_print(out, has_namesake(w, row) ? "  (%s, 0x%" PRIx64 ")" : "  (%s)", image, row->address);
}

/* Returns the name of the row's source (a process, an encoder), or NULL. */
static const char *source_name(const struct cli_profile_writer *w, const ntr_profile_row *row) {
    const ntr_bundle_source *source = cli_trace_source(w->trace, row->src);

    return source ? source->name : NULL;
}

static void write_source(const struct cli_profile_writer *w, const ntr_profile_row *row) {
    const char *name = source_name(w, row);

    cli_output_print(w->out, "src %u%s", row->src, name ? "  " : "");
    if (name) cli_output_text(w->out, name);
}

static void write_context(struct cli_output *out, const ntr_profile_row *row) {
    cli_output_print(out, "src %u", row->src);
    if (row->context.prv != NTR_PRV_UNKNOWN)
        cli_output_print(out, "  %s%s", row->context.v ? "V" : "",
                         row->context.prv == 0   ? "U"
                         : row->context.prv == 1 ? "S"
                                                 : "M");
    if (row->context.has_scontext) cli_output_print(out, "  scontext %" PRIu64, row->context.scontext);
    if (row->context.has_hcontext) cli_output_print(out, "  hcontext %" PRIu64, row->context.hcontext);
}

/* Writes the name and pid of a process or thread; without a name, its context, or its source. */
static void write_task(const struct cli_profile_writer *w, const ntr_profile_row *row) {
    struct cli_output *out = w->out;

    if (!row->name && row->context.has_hcontext) cli_output_print(out, "guest %" PRIu64 ": ", row->context.hcontext);
    if (row->name)
        cli_output_print(out, "%s", row->name);
    else if (row->context.has_scontext)
        cli_output_print(out, "scontext 0x%" PRIx64, row->context.scontext);
    else {
        write_source(w, row);
        if (row->context.prv != NTR_PRV_UNKNOWN) cli_output_text(out, row->context.prv ? ": kernel" : ": user mode");
    }
    if (row->name) cli_output_print(out, "  pid %" PRIu64, row->address);
}

static void write_label(const struct cli_profile_writer *w, const ntr_profile_row *row) {
    switch (w->by) {
    case NTR_PROFILE_FUNCTION: cli_output_print(w->out, "%s", row->name ? row->name : "[unknown]"); break;
    case NTR_PROFILE_LINE:
        cli_output_source(w->out, row->file ? row->file : "?", row->line);
        cli_output_print(w->out, "  %s", row->name ? row->name : "[unknown]");
        return;
    case NTR_PROFILE_INSTRUCTION:
        cli_output_print(w->out, "0x%" PRIx64 "  ", row->address);
        cli_output_print(w->out, "%s", row->name ? row->name : "[unknown]");
        break;
    case NTR_PROFILE_HART: write_source(w, row); return;
    case NTR_PROFILE_CONTEXT: write_context(w->out, row); return;
    case NTR_PROFILE_IMAGE: cli_output_print(w->out, "%s", row->image ? row->image : "[unknown]"); return;
    case NTR_PROFILE_PROCESS:
    case NTR_PROFILE_THREAD: write_task(w, row); return;
    case NTR_PROFILE_MODE:
    case NTR_PROFILE_INTERRUPT: cli_output_print(w->out, "%s", row->name); return;
    }
    write_place(w, row);
}

static void write_text_row(const struct cli_profile_writer *w, const ntr_profile_row *row) {
    const ntr_profile *p = w->profile;

    cli_output_print(w->out, "%15" PRIu64 " %6.2f %%", row->self, percent(row->self, p->instructions));
    if (has_calls(w))
        cli_output_print(w->out, " %15" PRIu64 " %6.2f %% %12" PRIu64, row->total, percent(row->total, p->instructions),
                         row->calls);
    if (p->ticks)
        cli_output_print(w->out, " %15" PRIu64 " %6.2f %%", row->self_ticks, percent(row->self_ticks, p->ticks));
    cli_output_text(w->out, "  ");
    write_label(w, row);
    cli_output_text(w->out, "\n");
}

static void write_text(const struct cli_profile_writer *w, size_t rows) {
    static const char *const labels[] = {"function", "line",    "instruction", "hart", "context",
                                         "image",    "process", "thread",      "mode", "interrupt"};

    cli_output_print(w->out, "# %" PRIu64 " instructions\n", w->profile->instructions);
    if (w->relation) {
        cli_output_print(w->out, "# %ss of ", w->relation);
        cli_output_text(w->out, w->relative);
        cli_output_text(w->out, "\n");
    }
    cli_output_print(w->out, "#%14s %8s", "self", "");
    if (has_calls(w)) cli_output_print(w->out, " %15s %8s %12s", "total", "", "calls");
    if (w->profile->ticks) cli_output_print(w->out, " %15s %8s", "ticks", "");
    cli_output_print(w->out, "  %s\n", labels[w->by]);
    for (size_t i = 0; i < rows; i++) write_text_row(w, &w->profile->rows[i]);
    if (rows < w->profile->count) cli_output_print(w->out, "# and %zu more rows (--top)\n", w->profile->count - rows);
}

/* ---- JSON lines and CSV: all columns, whatever the unit of a row */

static void json_text(struct cli_output *out, const char *key, const char *value) {
    if (!value) return;
    cli_output_print(out, ",\"%s\":", key);
    cli_output_json(out, value);
}

static bool is_task(const struct cli_profile_writer *w) {
    return w->by == NTR_PROFILE_PROCESS || w->by == NTR_PROFILE_THREAD;
}

static void write_json_row(const struct cli_profile_writer *w, const ntr_profile_row *row) {
    static const char *const names[] = {[NTR_PROFILE_FUNCTION] = "function",
                                        [NTR_PROFILE_LINE] = "function",
                                        [NTR_PROFILE_INSTRUCTION] = "function",
                                        [NTR_PROFILE_HART] = "function",
                                        [NTR_PROFILE_CONTEXT] = "function",
                                        [NTR_PROFILE_IMAGE] = "function",
                                        [NTR_PROFILE_PROCESS] = "process",
                                        [NTR_PROFILE_THREAD] = "thread",
                                        [NTR_PROFILE_MODE] = "mode",
                                        [NTR_PROFILE_INTERRUPT] = "interrupt"};

    cli_output_text(w->out, "{");
    if (w->relation) {
        cli_output_print(w->out, "\"relation\":\"%s\",\"of\":", w->relation);
        cli_output_json(w->out, w->relative);
        cli_output_text(w->out, ",");
    }
    cli_output_print(w->out, "\"self\":%" PRIu64 ",\"total\":%" PRIu64 ",\"calls\":%" PRIu64, row->self, row->total,
                     row->calls);
    if (w->profile->ticks)
        cli_output_print(w->out, ",\"self_ticks\":%" PRIu64 ",\"total_ticks\":%" PRIu64, row->self_ticks,
                         row->total_ticks);
    json_text(w->out, names[w->by], row->name);
    if (is_task(w) && row->name) cli_output_print(w->out, ",\"pid\":%" PRIu64, row->address);
    json_text(w->out, "file", row->file);
    if (row->file) cli_output_print(w->out, ",\"line\":%" PRIu32, row->line);
    json_text(w->out, "image", row->image);
    if (w->by < NTR_PROFILE_HART) cli_output_print(w->out, ",\"address\":\"0x%" PRIx64 "\"", row->address);
    if (w->by == NTR_PROFILE_HART || w->by == NTR_PROFILE_CONTEXT || is_task(w)) {
        cli_output_print(w->out, ",\"src\":%u", row->src);
        json_text(w->out, "source", source_name(w, row));
    }
    if (w->by == NTR_PROFILE_CONTEXT && row->context.prv != NTR_PRV_UNKNOWN)
        cli_output_print(w->out, ",\"prv\":%u,\"v\":%u", row->context.prv, row->context.v);
    if ((w->by == NTR_PROFILE_CONTEXT || is_task(w)) && row->context.has_scontext)
        cli_output_print(w->out, ",\"scontext\":%" PRIu64, row->context.scontext);
    if ((w->by == NTR_PROFILE_CONTEXT || is_task(w)) && row->context.has_hcontext)
        cli_output_print(w->out, ",\"hcontext\":%" PRIu64, row->context.hcontext);
    if (!w->relation && (w->by == NTR_PROFILE_FUNCTION || w->by == NTR_PROFILE_LINE))
        cli_output_print(w->out, ",\"by\":\"%s\",\"all\":%" PRIu64 "%s",
                         w->by == NTR_PROFILE_LINE ? "line" : "function", w->profile->instructions,
                         w->incomplete ? ",\"incomplete\":true" : "");
    cli_output_text(w->out, "}\n");
}

static void csv_text(struct cli_output *out, const char *text) {
    cli_output_text(out, ",");
    cli_output_csv(out, text ? text : "");
}

static void write_csv_row(const struct cli_profile_writer *w, const ntr_profile_row *row) {
    cli_output_print(w->out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",0x%" PRIx64 ",%u", row->self,
                     row->total, row->calls, row->self_ticks, row->total_ticks, row->address, row->src);
    csv_text(w->out, row->name);
    csv_text(w->out, row->file);
    cli_output_print(w->out, ",%" PRIu32, row->line);
    csv_text(w->out, row->image);
    if (w->relation) {
        cli_output_print(w->out, ",%s", w->relation);
        csv_text(w->out, w->relative);
    }
    cli_output_text(w->out, "\n");
}

void cli_profile_write(const struct cli_profile_writer *w, enum cli_format format, int64_t top) {
    size_t rows = w->profile->count;

    if (top < 0 && format == CLI_FORMAT_TEXT) top = TEXT_ROWS;
    if (top >= 0 && (uint64_t)top < rows) rows = (size_t)top;
    if (format == CLI_FORMAT_TEXT) {
        write_text(w, rows);
        return;
    }
    if (format == CLI_FORMAT_CSV && !w->continues)
        cli_output_print(w->out, "self,total,calls,self_ticks,total_ticks,address,src,function,file,line,image%s\n",
                         w->relation ? ",relation,of" : "");
    for (size_t i = 0; i < rows; i++)
        (format == CLI_FORMAT_CSV ? write_csv_row : write_json_row)(w, &w->profile->rows[i]);
}
