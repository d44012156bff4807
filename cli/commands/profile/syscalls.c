/* profile --by syscall: system calls, interrupts and exceptions by name. */
#include "commands/shared/machine_run.h"
#include "options/options.h"
#include "options/diagnostics.h"

#include <inttypes.h>

/* ---- text */

static void write_totals(const struct cli_machine_writer *w) {
    const ntr_machine_totals *t = &w->totals;

    cli_output_print(w->out,
                     "# %" PRIu64 " instructions, %" PRIu64 " switches of threads, %" PRIu64 " of address spaces",
                     t->instructions, t->switches, t->spaces);
    if (t->timed && w->ticks_per_second && t->end > t->begin)
        cli_output_print(w->out, "; %.1f switches of threads a second",
                         (double)t->switches * (double)w->ticks_per_second / (double)(t->end - t->begin));
    cli_output_text(w->out, "\n");
    if (t->longest_name) {
        cli_output_print(w->out, "# longest interrupt: %" PRIu64 " instructions, %s\n", t->longest_interrupt,
                         t->longest_name);
    }
    if (!t->has_user) return;
    cli_output_print(w->out, "# first instruction of init: after %s%" PRIu64 " instructions%s",
                     t->harts > 1 ? "about " : "", t->user_instructions, t->harts > 1 ? " of all harts" : "");
    if (t->user_timed) {
        cli_output_text(w->out, ", ");
        cli_machine_time(w, t->user_time - t->begin);
    }
    cli_output_text(w->out, "\n");
}

static void write_head(const struct cli_machine_writer *w, unsigned kind) {
    cli_output_print(w->out, "\n#%9s %14s %8s %9s %9s %9s %9s", "count", "instructions", "", "min", "median", "p99",
                     "max");
    if (w->totals.timed) cli_output_print(w->out, " %14s %9s %9s %9s", "ticks", "median", "p99", "max");
    cli_output_print(w->out, "  %s\n", ntr_trap_kind_name(kind));
}

static void write_histogram(const struct cli_machine_writer *w, const ntr_histogram *h, bool least) {
    if (least) cli_output_print(w->out, " %9" PRIu64, h->least);
    cli_output_print(w->out, " %9" PRIu64 " %9" PRIu64 " %9" PRIu64, ntr_histogram_percentile(h, 50),
                     ntr_histogram_percentile(h, 99), h->most);
}

static void write_row(const struct cli_machine_writer *w, const ntr_trap *t) {
    cli_output_print(w->out, "%10" PRIu64 " %14" PRIu64 " %6.2f %%", t->count, t->instructions.sum,
                     cli_machine_share(t->instructions.sum, w->totals.instructions));
    write_histogram(w, &t->instructions, true);
    if (w->totals.timed) {
        cli_output_print(w->out, " %14" PRIu64, t->ticks.sum);
        write_histogram(w, &t->ticks, false);
    }
    cli_output_print(w->out, "  %s", t->name);
    if (t->kind == NTR_TRAP_INTERRUPT && t->function && t->function != t->name)
        cli_output_print(w->out, "  %s", t->function);
    if (t->unfinished) cli_output_print(w->out, "  (%" PRIu64 " unfinished)", t->unfinished);
    cli_output_text(w->out, "\n");
}

static void write_long(const struct cli_machine_writer *w, const ntr_long_stretch *s) {
    cli_output_print(w->out, "# %14" PRIu64 " instructions", s->instructions);
    if (w->totals.timed) {
        cli_output_text(w->out, ", ");
        cli_machine_time(w, s->ticks);
    }
    cli_output_print(w->out, " on hart %u, from %s (0x%" PRIx64 ") to %s (0x%" PRIx64 ")\n", s->src,
                     s->from_function ? s->from_function : "[unknown]", s->from,
                     s->to_function ? s->to_function : "[unknown]", s->to);
}

/* How long interrupts and preemption were off, and the longest of these stretches. */
static void write_stretches(const struct cli_machine_writer *w) {
    const ntr_stretches *all = ntr_machine_stretches(w->machine);

    for (unsigned i = 0; all && i < NTR_STRETCH_KINDS; i++) {
        const ntr_stretches *s = &all[i];
        if (!s->longest_count) continue;
        cli_output_print(w->out, "# %s: off %" PRIu64 " times, median %" PRIu64 ", p99 %" PRIu64 ", longest:\n",
                         s->name, s->instructions.count, ntr_histogram_percentile(&s->instructions, 50),
                         ntr_histogram_percentile(&s->instructions, 99));
        for (size_t k = 0; k < s->longest_count; k++) write_long(w, &s->longest[k]);
    }
}

/* Writes one table for each kind of trap. */
static void write_text(const struct cli_machine_writer *w) {
    size_t count, shown = 0;
    const ntr_trap *const *traps = ntr_machine_traps(w->machine, &count);

    write_totals(w);
    write_stretches(w);
    for (size_t i = 0; i < count; i++) {
        bool first = i == 0 || traps[i]->kind != traps[i - 1]->kind;
        if (first) write_head(w, traps[i]->kind);
        shown = first ? 1 : shown + 1;
        if (shown <= w->top) write_row(w, traps[i]);
    }
}

/* ---- JSON lines and CSV */

static void json_histogram(const struct cli_machine_writer *w, const char *name, const ntr_histogram *h) {
    if (!h->count) return;
    cli_output_print(w->out,
                     ",\"%s\":{\"sum\":%" PRIu64 ",\"min\":%" PRIu64 ",\"median\":%" PRIu64 ",\"p99\":%" PRIu64
                     ",\"max\":%" PRIu64 "}",
                     name, h->sum, h->least, ntr_histogram_percentile(h, 50), ntr_histogram_percentile(h, 99), h->most);
}

static void json_text(const struct cli_machine_writer *w, const char *name, const char *text) {
    if (!text) return;
    cli_output_print(w->out, ",\"%s\":", name);
    cli_output_json(w->out, text);
}

static void write_json_row(const struct cli_machine_writer *w, const ntr_trap *t) {
    cli_output_print(w->out, "{\"kind\":\"%s\"", ntr_trap_kind_name(t->kind));
    json_text(w, "name", t->name);
    json_text(w, "function", t->function);
    cli_output_print(w->out, ",\"count\":%" PRIu64 ",\"unfinished\":%" PRIu64, t->count, t->unfinished);
    json_histogram(w, "instructions", &t->instructions);
    json_histogram(w, "ticks", &t->ticks);
    cli_output_text(w->out, "}\n");
}

static void write_json_stretches(const struct cli_machine_writer *w) {
    const ntr_stretches *all = ntr_machine_stretches(w->machine);

    for (unsigned i = 0; all && i < NTR_STRETCH_KINDS; i++) {
        if (!all[i].longest_count) continue;
        cli_output_print(w->out, "{\"kind\":\"off\",\"name\":\"%s\",\"count\":%" PRIu64, all[i].name,
                         all[i].instructions.count);
        json_histogram(w, "instructions", &all[i].instructions);
        cli_output_text(w->out, ",\"longest\":[");
        for (size_t k = 0; k < all[i].longest_count; k++) {
            const ntr_long_stretch *s = &all[i].longest[k];
            cli_output_print(w->out,
                             "%s{\"src\":%u,\"instructions\":%" PRIu64 ",\"begin\":%" PRIu64 ",\"from\":\"0x%" PRIx64
                             "\",\"to\":\"0x%" PRIx64 "\"",
                             k ? "," : "", s->src, s->instructions, s->begin, s->from, s->to);
            json_text(w, "from_function", s->from_function);
            json_text(w, "to_function", s->to_function);
            if (w->totals.timed) cli_output_print(w->out, ",\"ticks\":%" PRIu64, s->ticks);
            cli_output_text(w->out, "}");
        }
        cli_output_text(w->out, "]}\n");
    }
}

static void write_json_totals(const struct cli_machine_writer *w) {
    const ntr_machine_totals *t = &w->totals;

    cli_output_print(w->out,
                     "{\"kind\":\"total\",\"instructions\":%" PRIu64 ",\"switches\":%" PRIu64 ",\"spaces\":%" PRIu64,
                     t->instructions, t->switches, t->spaces);
    if (t->timed) cli_output_print(w->out, ",\"ticks\":%" PRIu64, t->end - t->begin);
    if (w->ticks_per_second) cli_output_print(w->out, ",\"ticks_per_second\":%" PRIu64, w->ticks_per_second);
    if (t->longest_name) {
        cli_output_print(w->out, ",\"longest_interrupt\":%" PRIu64, t->longest_interrupt);
        json_text(w, "longest_interrupt_name", t->longest_name);
    }
    if (t->has_user) cli_output_print(w->out, ",\"init_instructions\":%" PRIu64, t->user_instructions);
    if (t->has_user && t->user_timed) cli_output_print(w->out, ",\"init_ticks\":%" PRIu64, t->user_time - t->begin);
    cli_output_text(w->out, "}\n");
}

static void csv_histogram(const struct cli_machine_writer *w, const ntr_histogram *h) {
    cli_output_print(w->out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, h->sum, h->least,
                     ntr_histogram_percentile(h, 50), ntr_histogram_percentile(h, 99), h->most);
}

static void write_csv_row(const struct cli_machine_writer *w, const ntr_trap *t) {
    cli_output_print(w->out, "%s,", ntr_trap_kind_name(t->kind));
    cli_output_csv(w->out, t->name);
    cli_output_text(w->out, ",");
    cli_output_csv(w->out, t->function ? t->function : "");
    cli_output_print(w->out, ",%" PRIu64 ",%" PRIu64, t->count, t->unfinished);
    csv_histogram(w, &t->instructions);
    csv_histogram(w, &t->ticks);
    cli_output_text(w->out, "\n");
}

static void write_rows(const struct cli_machine_writer *w) {
    size_t count;
    const ntr_trap *const *traps = ntr_machine_traps(w->machine, &count);

    if (w->format == CLI_FORMAT_CSV)
        cli_output_text(w->out, "kind,name,function,count,unfinished,instructions,instructions_min,instructions_median,"
                                "instructions_p99,instructions_max,ticks,ticks_min,ticks_median,ticks_p99,ticks_max\n");
    for (size_t i = 0; i < count && i < w->top; i++)
        (w->format == CLI_FORMAT_CSV ? write_csv_row : write_json_row)(w, traps[i]);
    if (w->format == CLI_FORMAT_CSV) return;
    write_json_stretches(w);
    write_json_totals(w);
}

/* ---- */

static void write_all(const struct cli_machine_writer *w) {
    (w->format == CLI_FORMAT_TEXT ? write_text : write_rows)(w);
}

int cli_profile_syscalls(const struct cli_machine_options *options, const char *path) {
    return cli_machine_run(options, path, true, false, write_all);
}
