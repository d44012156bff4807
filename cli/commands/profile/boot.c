/* profile --by boot-phase: phases, initcalls and processes of a boot. */
#include "commands/shared/machine_run.h"
#include "options/options.h"
#include "options/diagnostics.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A row of any of the tables. */
struct boot_row {
    const char *table, *name;
    uint64_t instructions, ticks, calls, begin;
    uint32_t pid;
    bool has_pid;
    char text[64]; /* a name made here */
};

/* ---- rows */

static uint64_t sum_of(const ntr_thread *t) {
    uint64_t sum = 0;

    for (size_t i = 0; i < NTR_MODES; i++) sum += t->instructions[i];
    return sum;
}

static struct boot_row row_of_phase(const void *item) {
    const ntr_phase *p = item;
    return (struct boot_row){.table = "phase", .name = p->name, .instructions = p->instructions, .ticks = p->ticks};
}

static struct boot_row row_of_initcall(const void *item) {
    const ntr_initcall *i = item;
    return (struct boot_row){.table = "initcall",
                             .name = i->name,
                             .instructions = i->instructions,
                             .ticks = i->ticks,
                             .calls = i->calls,
                             .begin = i->begin};
}

static struct boot_row row_of_thread(const void *item) {
    const ntr_thread *t = item;
    struct boot_row row = {.table = "process",
                           .name = t->name,
                           .instructions = sum_of(t),
                           .ticks = t->ticks,
                           .calls = t->runs,
                           .pid = t->tgid,
                           .has_pid = t->has_pid};

    if (t->name) return row;
    const int used = t->has_hcontext ? snprintf(row.text, sizeof row.text, "guest %" PRIu64 ": ", t->hcontext) : 0;
    char *text = row.text + used;
    if (t->has_scontext)
        snprintf(text, sizeof row.text - (size_t)used, "scontext 0x%" PRIx64, t->scontext);
    else
        snprintf(text, sizeof row.text - (size_t)used, "hart %u%s", t->src,
                 t->user                                                                 ? ": user mode"
                 : t->instructions[NTR_PRIVILEGE_S] || t->instructions[NTR_PRIVILEGE_VS] ? ": kernel"
                                                                                         : "");
    return row;
}

static int by_instructions(const void *left, const void *right) {
    const ntr_initcall *a = left, *b = right;
    if (a->instructions != b->instructions) return a->instructions > b->instructions ? -1 : 1;
    return a->begin < b->begin ? -1 : a->begin > b->begin;
}

/* ---- text and JSON lines */

static const char *name_of(const struct boot_row *row) {
    return row->name ? row->name : row->text;
}

static void write_text_row(const struct cli_machine_writer *w, const struct boot_row *row) {
    cli_output_print(w->out, "%15" PRIu64 " %6.2f %%", row->instructions,
                     cli_machine_share(row->instructions, w->totals.instructions));
    if (w->totals.timed)
        cli_output_print(w->out, " %15" PRIu64 " %6.2f %%", row->ticks,
                         cli_machine_share(row->ticks, w->totals.end - w->totals.begin));
    cli_output_text(w->out, "  ");
    cli_output_text(w->out, name_of(row));
    if (row->has_pid) cli_output_print(w->out, "  pid %" PRIu32, row->pid);
    cli_output_text(w->out, "\n");
}

static void write_json_row(const struct cli_machine_writer *w, const struct boot_row *row) {
    cli_output_print(w->out, "{\"table\":\"%s\",\"name\":", row->table);
    cli_output_json(w->out, name_of(row));
    if (row->has_pid) cli_output_print(w->out, ",\"pid\":%" PRIu32, row->pid);
    if (row->calls) cli_output_print(w->out, ",\"calls\":%" PRIu64, row->calls);
    if (row->begin) cli_output_print(w->out, ",\"begin\":%" PRIu64, row->begin);
    cli_output_print(w->out, ",\"instructions\":%" PRIu64, row->instructions);
    if (w->totals.timed) cli_output_print(w->out, ",\"ticks\":%" PRIu64, row->ticks);
    cli_output_text(w->out, "}\n");
}

static void write_csv_row(const struct cli_machine_writer *w, const struct boot_row *row) {
    cli_output_print(w->out, "%s,", row->table);
    cli_output_csv(w->out, name_of(row));
    cli_output_print(w->out, ",%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", row->pid, row->calls,
                     row->begin, row->instructions, row->ticks);
}

static void write_table(const struct cli_machine_writer *w, const char *title, const void *items, size_t count,
                        size_t size, struct boot_row (*row_of)(const void *item)) {
    void (*const writers[])(const struct cli_machine_writer *, const struct boot_row *) = {
        [CLI_FORMAT_TEXT] = write_text_row, [CLI_FORMAT_JSONL] = write_json_row, [CLI_FORMAT_CSV] = write_csv_row};

    if (w->format == CLI_FORMAT_TEXT && count)
        cli_output_print(w->out, "\n#%14s %8s%s  %s\n", "instructions", "",
                         w->totals.timed ? "           ticks         " : "", title);
    for (size_t i = 0; i < count && i < w->top; i++) {
        const struct boot_row row = row_of((const char *)items + i * size);
        writers[w->format](w, &row);
    }
    if (w->format == CLI_FORMAT_TEXT && count > w->top)
        cli_output_print(w->out, "# and %zu more rows (--top)\n", count - w->top);
}

static void write_initcalls(const struct cli_machine_writer *w) {
    size_t count;
    const ntr_initcall *list = ntr_machine_initcalls(w->machine, &count);
    ntr_initcall *sorted = count ? malloc(count * sizeof *sorted) : NULL;

    if (!sorted) return;
    memcpy(sorted, list, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_instructions);
    write_table(w, "initcall", sorted, count, sizeof *sorted, row_of_initcall);
    free(sorted);
}

static void write_all(const struct cli_machine_writer *w) {
    size_t phases, threads;
    const ntr_phase *phase = ntr_machine_phases(w->machine, &phases);
    const ntr_thread *thread = ntr_machine_threads(w->machine, &threads);

    if (w->format == CLI_FORMAT_TEXT) cli_output_print(w->out, "# %" PRIu64 " instructions\n", w->totals.instructions);
    if (w->format == CLI_FORMAT_CSV) cli_output_text(w->out, "table,name,pid,calls,begin,instructions,ticks\n");
    write_table(w, "phase", phase, phases, sizeof *phase, row_of_phase);
    write_initcalls(w);
    write_table(w, "process", thread, threads, sizeof *thread, row_of_thread);
}

int cli_profile_boot(const struct cli_machine_options *options, const char *path) {
    return cli_machine_run(options, path, false, true, write_all);
}
