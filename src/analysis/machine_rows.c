/* The tables of ntr_machine. */
#include "analysis/machine_state.h"
#include "base/allocator.h"
#include "base/macros.h"

#include <stdlib.h>
#include <string.h>

static bool reserve(ntr_machine *m, void **block, size_t *capacity, size_t need, size_t item) {
    if (ntr_reserve(m->allocator, block, capacity, need, item) == 0) return true;
    m->failed = true;
    return false;
}

/* ---- traps */

uint32_t ntr_machine_trap(ntr_machine *m, ntr_trap_kind kind, const char *name, const char *function) {
    for (size_t i = 0; i < m->trap_count; i++)
        if (m->traps[i]->kind == kind && strcmp(m->traps[i]->name, name) == 0) return (uint32_t)i;
    ntr_trap *fresh = ntr_alloc(m->allocator, 1, sizeof *fresh);
    if (!fresh || !reserve(m, (void **)&m->traps, &m->trap_capacity, m->trap_count + 1, sizeof(ntr_trap *))) {
        ntr_dealloc(m->allocator, fresh);
        m->failed = true;
        return MACHINE_NONE;
    }
    fresh->name = name;
    fresh->function = function;
    fresh->kind = (uint8_t)kind;
    m->traps[m->trap_count] = fresh;
    return (uint32_t)m->trap_count++;
}

uint32_t ntr_machine_trap_of(ntr_machine *m, ntr_trap_kind kind, const char *name, uint32_t function) {
    if (function < m->trap_of_count && m->trap_of[function]) return m->trap_of[function] - 1;
    const size_t need = (size_t)function + 1;
    if (!reserve(m, (void **)&m->trap_of, &m->trap_of_capacity, need, sizeof *m->trap_of)) return MACHINE_NONE;
    if (m->trap_of_count < need) {
        memset(m->trap_of + m->trap_of_count, 0, (need - m->trap_of_count) * sizeof *m->trap_of);
        m->trap_of_count = need;
    }
    const ntr_function *f = ntr_functions_get(m->functions, function);
    uint32_t row = ntr_machine_trap(m, kind, name, f ? f->name : NULL);
    if (row != MACHINE_NONE) m->trap_of[function] = row + 1;
    return row;
}

static int by_trap(const void *left, const void *right) {
    const ntr_trap *x = *(ntr_trap *const *)left, *y = *(ntr_trap *const *)right;
    NTR_COMPARE_BY(kind);
    if (x->count != y->count) return x->count > y->count ? -1 : 1;
    return strcmp(x->name, y->name);
}

const ntr_trap *const *ntr_machine_traps(const ntr_machine *m, size_t *count) {
    *count = m->trap_count;
    return (const ntr_trap *const *)m->traps;
}

const char *ntr_trap_kind_name(unsigned kind) {
    static const char *const names[] = {"system call", "interrupt", "exception"};
    return kind < sizeof names / sizeof *names ? names[kind] : NULL;
}

/* ---- threads */

static bool same_text(const char *a, const char *b) {
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_thread(const ntr_thread *a, const ntr_thread *b) {
    if (a->has_pid != b->has_pid || a->pid != b->pid || !same_text(a->name, b->name)) return false;
    return a->name || (a->user == b->user && a->has_scontext == b->has_scontext && a->scontext == b->scontext &&
                       a->has_hcontext == b->has_hcontext && a->hcontext == b->hcontext && a->src == b->src);
}

uint32_t ntr_machine_thread_row(ntr_machine *m, const ntr_thread *like) {
    for (size_t i = m->row_count; i-- > 0;)
        if (same_thread(&m->rows[i], like)) return (uint32_t)i;
    if (!reserve(m, (void **)&m->rows, &m->row_capacity, m->row_count + 1, sizeof *m->rows)) return MACHINE_NONE;
    m->rows[m->row_count] = *like;
    return (uint32_t)m->row_count++;
}

static uint64_t sum_of(const ntr_thread *t) {
    uint64_t sum = 0;
    for (size_t i = 0; i < NTR_MODES; i++) sum += t->instructions[i];
    return sum;
}

static int by_instructions(const void *left, const void *right) {
    const ntr_thread *x = left, *y = right;
    const uint64_t a = sum_of(x), b = sum_of(y);
    if (a != b) return a > b ? -1 : 1;
    NTR_COMPARE_BY(pid);
    NTR_COMPARE_BY(src);
    NTR_COMPARE_BY(hcontext);
    return NTR_COMPARE(x->scontext, y->scontext);
}

const ntr_thread *ntr_machine_threads(const ntr_machine *m, size_t *count) {
    *count = m->row_count;
    return m->rows;
}

/* ---- boot */

uint32_t ntr_machine_initcall(ntr_machine *m, uint32_t function) {
    for (size_t i = 0; i < m->initcall_count; i++)
        if (m->initcall_functions[i] == function) return (uint32_t)i;
    const size_t need = m->initcall_count + 1;
    if (!reserve(m, (void **)&m->initcalls, &m->initcall_capacity, need, sizeof *m->initcalls) ||
        !reserve(m, (void **)&m->initcall_functions, &m->initcall_function_capacity, need, sizeof(uint32_t)))
        return MACHINE_NONE;
    const ntr_function *f = ntr_functions_get(m->functions, function);
    m->initcalls[m->initcall_count] =
        (ntr_initcall){.name = f ? f->name : "[unknown]", .begin = m->totals.instructions};
    m->initcall_functions[m->initcall_count] = function;
    return (uint32_t)m->initcall_count++;
}

const ntr_initcall *ntr_machine_initcalls(const ntr_machine *m, size_t *count) {
    *count = m->initcall_count;
    return m->initcalls;
}

/* The hart with the newest time. */
static uint16_t newest_hart(const ntr_machine *m) {
    uint16_t found = 0;
    for (unsigned i = 1; i < NTR_SOURCES_MAX; i++)
        if (m->harts[i].time > m->harts[found].time) found = (uint16_t)i;
    return found;
}

/* `src`: the hart that ends the phase. */
static void end_phase(ntr_machine *m, uint16_t src) {
    if (!m->phase_count) return;
    const uint64_t now = m->harts[src].time;
    const bool comparable = src == m->phase_src || !m->own_clocks;
    ntr_phase *phase = &m->phases[m->phase_count - 1];
    phase->instructions = m->totals.instructions - m->phase_begin;
    phase->ticks = comparable && now > m->phase_time ? now - m->phase_time : 0;
}

void ntr_machine_phase(ntr_machine *m, const char *name, uint16_t src) {
    for (size_t i = m->boot; i < m->phase_count; i++)
        if (strcmp(m->phases[i].name, name) == 0) return;
    end_phase(m, src);
    if (!reserve(m, (void **)&m->phases, &m->phase_capacity, m->phase_count + 1, sizeof *m->phases)) return;
    m->phases[m->phase_count++] = (ntr_phase){.name = name};
    m->phase_begin = m->totals.instructions;
    m->phase_time = m->harts[src].time;
    m->phase_src = src;
}

const ntr_phase *ntr_machine_phases(const ntr_machine *m, size_t *count) {
    *count = m->phase_count;
    return m->phases;
}

/* An exception at an ECALL has a better name in the end: no trap has the first one. */
static void drop_unused(ntr_machine *m) {
    size_t kept = 0;
    for (size_t i = 0; i < m->trap_count; i++) {
        if (m->traps[i]->count)
            m->traps[kept++] = m->traps[i];
        else
            ntr_dealloc(m->allocator, m->traps[i]);
    }
    m->trap_count = kept;
}

void ntr_machine_sort(ntr_machine *m) {
    end_phase(m, m->own_clocks ? m->phase_src : newest_hart(m));
    drop_unused(m);
    if (m->trap_count) qsort(m->traps, m->trap_count, sizeof *m->traps, by_trap);
    if (m->row_count) qsort(m->rows, m->row_count, sizeof *m->rows, by_instructions);
}
