/* Profiles by process, thread, mode and interrupt: the rows of ntr_machine. */
#include "analysis/profile_rows.h"

#include <ntrace/machine.h>

#include <string.h>

static uint64_t sum_of(const ntr_thread *t) {
    uint64_t sum = 0;
    for (size_t i = 0; i < NTR_MODES; i++) sum += t->instructions[i];
    return sum;
}

static void count(ntr_profile_row *row, uint64_t instructions, uint64_t ticks, uint64_t calls) {
    row->self += instructions;
    row->self_ticks += ticks;
    row->calls += calls;
    row->total = row->self;
    row->total_ticks = row->self_ticks;
}

static ntr_profile_row row_of(const ntr_thread *t, uint32_t pid) {
    ntr_profile_row row = {
        .name = t->name, .address = t->has_pid ? pid : 0, .src = t->src, .context = NTR_CONTEXT_UNKNOWN};
    row.context.has_scontext = t->has_scontext;
    row.context.scontext = t->scontext;
    row.context.has_hcontext = t->has_hcontext;
    row.context.hcontext = t->hcontext;
    row.context.prv = t->user                                                                 ? 0
                      : t->instructions[NTR_PRIVILEGE_S] || t->instructions[NTR_PRIVILEGE_VS] ? 1
                                                                                              : NTR_PRV_UNKNOWN;
    return row;
}

static bool same_process(const ntr_profile_row *a, const ntr_profile_row *b) {
    if (!a->name != !b->name || (a->name && strcmp(a->name, b->name) != 0)) return false;
    if (a->name) return a->address == b->address;
    return a->context.has_scontext == b->context.has_scontext && a->context.scontext == b->context.scontext &&
           a->context.has_hcontext == b->context.has_hcontext && a->context.hcontext == b->context.hcontext &&
           a->context.prv == b->context.prv && (a->context.has_scontext || a->src == b->src);
}

/* The threads of a process have its number. Threads without a name are known by their context. */
static ntr_status add_threads(ntr_profile *p, size_t *capacity, const ntr_machine *machine, bool processes) {
    size_t threads;
    const ntr_thread *list = ntr_machine_threads(machine, &threads);
    for (size_t i = 0; i < threads; i++) {
        const ntr_profile_row like = row_of(&list[i], processes ? list[i].tgid : list[i].pid);
        size_t at = processes ? 0 : p->count;
        while (at < p->count && !same_process(&p->rows[at], &like)) at++;
        if (at == p->count) {
            ntr_profile_row *fresh = ntr_profile_add(p, capacity);
            if (!fresh) return NTR_E_MEMORY;
            *fresh = like;
        }
        count(&p->rows[at], sum_of(&list[i]), list[i].ticks, list[i].runs);
    }
    return NTR_OK;
}

static ntr_status add_modes(ntr_profile *p, size_t *capacity, const ntr_machine *machine) {
    static const char *const names[NTR_MODES] = {"U", "S", "M", "VU", "VS"};
    ntr_machine_totals totals;
    ntr_machine_totals_init(&totals);
    ntr_machine_totals_get(machine, &totals);
    for (size_t i = 0; i < NTR_MODES; i++) {
        if (!totals.modes[i]) continue;
        ntr_profile_row *row = ntr_profile_add(p, capacity);
        if (!row) return NTR_E_MEMORY;
        row->name = totals.has_modes ? names[i] : "[unknown]";
        count(row, totals.modes[i], 0, 0);
    }
    return NTR_OK;
}

static uint64_t ticks_of_threads(const ntr_machine *machine) {
    size_t threads;
    const ntr_thread *list = ntr_machine_threads(machine, &threads);
    uint64_t sum = 0;
    for (size_t i = 0; i < threads; i++) sum += list[i].ticks;
    return sum;
}

/* The last row is what was executed outside of all of them. */
static ntr_status add_interrupts(ntr_profile *p, size_t *capacity, const ntr_machine *machine) {
    size_t traps;
    const ntr_trap *const *list = ntr_machine_traps(machine, &traps);
    ntr_machine_totals totals;
    uint64_t inside = 0, ticks_inside = 0;
    const uint64_t ticks = ticks_of_threads(machine);
    ntr_machine_totals_init(&totals);
    ntr_machine_totals_get(machine, &totals);
    for (size_t i = 0; i <= traps; i++) {
        if (i < traps && list[i]->kind != NTR_TRAP_INTERRUPT) continue;
        ntr_profile_row *row = ntr_profile_add(p, capacity);
        if (!row) return NTR_E_MEMORY;
        row->name = i < traps ? list[i]->name : "(no interrupt)";
        if (i < traps)
            count(row, list[i]->instructions.sum, list[i]->ticks.sum, list[i]->count);
        else
            count(row, totals.instructions > inside ? totals.instructions - inside : 0,
                  ticks > ticks_inside ? ticks - ticks_inside : 0, 0);
        inside += row->self;
        ticks_inside += row->self_ticks;
    }
    return NTR_OK;
}

ntr_status ntr_profile_machine(ntr_profile *profile, ntr_profile_by by, const ntr_machine *machine,
                               const ntr_allocator *allocator) {
    ntr_status status = NTR_E_INVALID;
    size_t capacity = 0;
    *profile = (ntr_profile){.allocator = allocator};
    if (by == NTR_PROFILE_PROCESS || by == NTR_PROFILE_THREAD)
        status = add_threads(profile, &capacity, machine, by == NTR_PROFILE_PROCESS);
    else if (by == NTR_PROFILE_MODE)
        status = add_modes(profile, &capacity, machine);
    else if (by == NTR_PROFILE_INTERRUPT)
        status = add_interrupts(profile, &capacity, machine);
    return ntr_profile_finish(profile, status);
}
