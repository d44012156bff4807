#include "export/traps.h"

#include "analysis/functions.h"

bool ntr_traps_wanted(const ntr_export *x, const ntr_event *first) {
    return ntr_functions_tasks(x->analysis.functions) || (first->context.prv == 1 || first->context.prv == 3);
}

/* ---- text */

static void write_head(ntr_out *out, const ntr_machine_totals *t, const ntr_trap *trap) {
    ntr_out_format(out, "\n%10s %14s %9s %9s %9s %9s", "count", "instructions", "min", "median", "p99", "max");
    if (t->timed) ntr_out_format(out, " %14s %9s %9s %9s %9s", "ticks", "min", "median", "p99", "max");
    ntr_out_format(out, "  %s\n", ntr_trap_kind_name(trap->kind));
}

static void write_columns(ntr_out *out, const ntr_histogram *h) {
    ntr_out_format(out, " %14llu %9llu %9llu %9llu %9llu", (unsigned long long)h->sum, (unsigned long long)h->least,
                   (unsigned long long)ntr_histogram_percentile(h, 50),
                   (unsigned long long)ntr_histogram_percentile(h, 99), (unsigned long long)h->most);
}

static void write_row(ntr_out *out, const ntr_machine_totals *t, const ntr_trap *trap) {
    ntr_out_format(out, "%10llu", (unsigned long long)trap->count);
    write_columns(out, &trap->instructions);
    if (t->timed) write_columns(out, &trap->ticks);
    ntr_out_text(out, "  ");
    ntr_out_line(out, trap->name);
    if (trap->unfinished) ntr_out_format(out, "  (%llu unfinished)", (unsigned long long)trap->unfinished);
    ntr_out_char(out, '\n');
}

static double per_second(const ntr_export *x, const ntr_machine_totals *t) {
    if (!t->timed || !x->analysis.ticks_per_second || t->end <= t->begin) return 0;
    return (double)t->switches * (double)x->analysis.ticks_per_second / (double)(t->end - t->begin);
}

static void write_totals(ntr_export *x, const ntr_machine_totals *t) {
    const double rate = per_second(x, t);
    ntr_out_format(&x->out, "%llu instructions, %llu switches of threads", (unsigned long long)t->instructions,
                   (unsigned long long)t->switches);
    if (rate > 0) ntr_out_format(&x->out, " (%.1f a second)", rate);
    ntr_out_format(&x->out, ", %llu of address spaces\n", (unsigned long long)t->spaces);
    if (t->longest_name) {
        ntr_out_format(&x->out, "longest interrupt: %llu instructions, ", (unsigned long long)t->longest_interrupt);
        ntr_out_line(&x->out, t->longest_name);
        ntr_out_char(&x->out, '\n');
    }
    if (t->has_user)
        ntr_out_format(&x->out, "first instruction of init: after %s%llu instructions%s", t->harts > 1 ? "about " : "",
                       (unsigned long long)t->user_instructions, t->harts > 1 ? " of all harts" : "");
    if (t->has_user && t->user_timed)
        ntr_out_format(&x->out, ", %llu ticks", (unsigned long long)(t->user_time - t->begin));
    if (t->has_user) ntr_out_char(&x->out, '\n');
}

/* The longest time for which interrupts and preemption were off. */
static void write_stretches(ntr_out *out, const ntr_stretches *all) {
    for (unsigned i = 0; all && i < NTR_STRETCH_KINDS; i++) {
        const ntr_long_stretch *s = all[i].longest;
        if (!all[i].longest_count) continue;
        ntr_out_format(out, "longest time without %s: %llu instructions, hart %u, from ", all[i].name,
                       (unsigned long long)s->instructions, s->src);
        ntr_out_line(out, s->from_function ? s->from_function : "[unknown]");
        ntr_out_text(out, " to ");
        ntr_out_line(out, s->to_function ? s->to_function : "[unknown]");
        ntr_out_char(out, '\n');
    }
}

void ntr_traps_text(ntr_export *x, const ntr_machine *machine) {
    ntr_machine_totals totals;
    size_t count;
    const ntr_trap *const *traps = ntr_machine_traps(machine, &count);

    ntr_machine_totals_init(&totals);
    ntr_machine_totals_get(machine, &totals);
    write_totals(x, &totals);
    write_stretches(&x->out, ntr_machine_stretches(machine));
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || traps[i]->kind != traps[i - 1]->kind) write_head(&x->out, &totals, traps[i]);
        write_row(&x->out, &totals, traps[i]);
    }
    ntr_out_char(&x->out, '\n');
}

/* ---- JSON */

static void write_member(ntr_out *out, const char *name, const ntr_histogram *h) {
    if (!h->count) return;
    ntr_out_format(out, ",\"%s\":{\"count\":%llu,\"sum\":%llu,\"min\":%llu,\"median\":%llu,\"p99\":%llu,\"max\":%llu}",
                   name, (unsigned long long)h->count, (unsigned long long)h->sum, (unsigned long long)h->least,
                   (unsigned long long)ntr_histogram_percentile(h, 50),
                   (unsigned long long)ntr_histogram_percentile(h, 99), (unsigned long long)h->most);
}

static void write_object(ntr_out *out, const ntr_trap *trap, bool first) {
    ntr_out_format(out, "%s\n{\"kind\":\"%s\",\"name\":", first ? "" : ",", ntr_trap_kind_name(trap->kind));
    ntr_out_json(out, trap->name);
    if (trap->function) {
        ntr_out_text(out, ",\"function\":");
        ntr_out_json(out, trap->function);
    }
    ntr_out_format(out, ",\"count\":%llu,\"unfinished\":%llu", (unsigned long long)trap->count,
                   (unsigned long long)trap->unfinished);
    write_member(out, "instructions", &trap->instructions);
    write_member(out, "ticks", &trap->ticks);
    ntr_out_char(out, '}');
}

static void write_off(ntr_out *out, const ntr_stretches *all) {
    ntr_out_text(out, ",\"off\":[");
    for (unsigned i = 0, shown = 0; i < NTR_STRETCH_KINDS; i++) {
        const ntr_long_stretch *s = all[i].longest;
        if (!all[i].longest_count) continue;
        ntr_out_text(out, shown++ ? ",\n{\"name\":" : "\n{\"name\":");
        ntr_out_json(out, all[i].name);
        ntr_out_format(out, ",\"hart\":%u,\"longest\":%llu,\"from\":\"0x%llx\",\"to\":\"0x%llx\"", s->src,
                       (unsigned long long)s->instructions, (unsigned long long)s->from, (unsigned long long)s->to);
        write_member(out, "instructions", &all[i].instructions);
        ntr_out_char(out, '}');
    }
    ntr_out_char(out, ']');
}

void ntr_traps_json(ntr_export *x, const ntr_machine *machine) {
    ntr_machine_totals t;
    size_t count;
    const ntr_trap *const *traps = ntr_machine_traps(machine, &count);

    ntr_machine_totals_init(&t);
    ntr_machine_totals_get(machine, &t);
    ntr_out_format(&x->out, ",\"instructions\":%llu,\"switches\":%llu,\"spaces\":%llu",
                   (unsigned long long)t.instructions, (unsigned long long)t.switches, (unsigned long long)t.spaces);
    if (t.timed) ntr_out_format(&x->out, ",\"ticks\":%llu", (unsigned long long)(t.end - t.begin));
    if (t.has_user) ntr_out_format(&x->out, ",\"init_instructions\":%llu", (unsigned long long)t.user_instructions);
    if (t.has_user && t.user_timed)
        ntr_out_format(&x->out, ",\"init_ticks\":%llu", (unsigned long long)(t.user_time - t.begin));
    if (ntr_machine_stretches(machine)) write_off(&x->out, ntr_machine_stretches(machine));
    ntr_out_text(&x->out, ",\"traps\":[");
    for (size_t i = 0; i < count; i++) write_object(&x->out, traps[i], i == 0);
    ntr_out_char(&x->out, ']');
}
