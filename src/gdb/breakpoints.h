/* Breakpoints: a sorted list of addresses. */
#ifndef NTR_GDB_BREAKPOINTS_H
#define NTR_GDB_BREAKPOINTS_H

#include <ntrace/allocator.h>
#include <ntrace/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ntr_gdb_breakpoints {
    const ntr_allocator *allocator;
    uint64_t *addresses;
    size_t count, capacity;
    uint64_t *hardware; /* those of Z1 */
    size_t hardware_count, hardware_capacity;
    uint64_t *before;   /* the list at the previous resume */
    size_t before_count, before_capacity;
} ntr_gdb_breakpoints;

/* Errors: NTR_E_MEMORY, NTR_E_LIMIT. */
ntr_status ntr_gdb_breakpoint_add(ntr_gdb_breakpoints *breakpoints, uint64_t address, bool hardware);
void ntr_gdb_breakpoint_remove(ntr_gdb_breakpoints *breakpoints, uint64_t address, bool hardware);

bool ntr_gdb_breakpoint_at(const ntr_gdb_breakpoints *breakpoints, uint64_t address);
bool ntr_gdb_breakpoint_is_hardware(const ntr_gdb_breakpoints *breakpoints, uint64_t address);

/* Returns whether the breakpoint was set after the previous resume. */
bool ntr_gdb_breakpoint_is_new(const ntr_gdb_breakpoints *breakpoints, uint64_t address);

/* Returns whether there was a breakpoint at the previous resume. */
bool ntr_gdb_breakpoint_was(const ntr_gdb_breakpoints *breakpoints, uint64_t address);

/* Execution resumes: keeps the list for the two functions above. Errors: NTR_E_MEMORY. */
ntr_status ntr_gdb_breakpoints_resume(ntr_gdb_breakpoints *breakpoints);
void ntr_gdb_breakpoints_release(ntr_gdb_breakpoints *breakpoints);

#endif
