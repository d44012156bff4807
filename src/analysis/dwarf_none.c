/* Implementation for builds without libdw: names come from the symbol table, lines are not known. */
#include "analysis/dwarf.h"

ntr_dwarf *ntr_dwarf_open(const ntr_image_info *image, const char *debug_path, ntr_damage *damage,
                          const ntr_limits *limits, const ntr_allocator *allocator) {
    (void)damage;
    (void)image;
    (void)debug_path;
    (void)limits;
    (void)allocator;
    return NULL;
}

void ntr_dwarf_close(ntr_dwarf *dwarf) {
    (void)dwarf;
}

size_t ntr_dwarf_frames(ntr_dwarf *dwarf, uint64_t address, ntr_frame *frames, size_t capacity) {
    (void)dwarf;
    (void)address;
    (void)frames;
    (void)capacity;
    return 0;
}

ntr_status ntr_dwarf_functions(ntr_dwarf *dwarf, ntr_status (*visit)(void *user, const ntr_frame *function),
                               void *user) {
    (void)dwarf;
    (void)visit;
    (void)user;
    return NTR_OK;
}

ntr_status ntr_dwarf_lines(ntr_dwarf *dwarf, const ntr_line_row **rows, size_t *count) {
    (void)dwarf;
    *rows = NULL;
    *count = 0;
    return NTR_OK;
}

ntr_status ntr_dwarf_digests(ntr_dwarf *dwarf, ntr_status (*visit)(void *user, const char *file, const uint8_t *md5),
                             void *user) {
    (void)dwarf;
    (void)visit;
    (void)user;
    return NTR_OK;
}

const char *ntr_dwarf_path(const ntr_dwarf *dwarf, size_t index) {
    (void)dwarf;
    (void)index;
    return NULL;
}

ntr_status ntr_dwarf_folded(ntr_dwarf *dwarf,
                            ntr_status (*visit)(void *user, const ntr_frame *folded, const ntr_frame *kept),
                            void *user) {
    (void)dwarf;
    (void)visit;
    (void)user;
    return NTR_OK;
}

ntr_status ntr_dwarf_units(ntr_dwarf *dwarf, ntr_status (*visit)(void *user, const ntr_debug_unit *unit), void *user) {
    (void)dwarf;
    (void)visit;
    (void)user;
    return NTR_OK;
}

ntr_status ntr_debug_symbols_add(ntr_program *program, size_t index, const char *debug_path,
                                 const ntr_allocator *allocator, bool *found) {
    ntr_image_info image;
    (void)debug_path;
    (void)allocator;
    *found = false;
    return ntr_program_image(program, index, &image) == NTR_OK ? NTR_OK : NTR_END;
}
