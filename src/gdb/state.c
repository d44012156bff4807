/* The state of the selected hart: its place, registers and stack, computed when they are asked for. */
#include "gdb/server.h"

/* Distances of the stacks of harts. */
#define HART_64 UINT64_C(0x10000000)
#define HART_32 UINT64_C(0x100000)

void ntr_gdb_forget_state(ntr_gdb *gdb) {
    gdb->hart_valid = gdb->stack_valid = false;
}

const ntr_replay_hart *ntr_gdb_hart(ntr_gdb *gdb) {
    const uint64_t position = ntr_replay_position(gdb->replay);
    if (gdb->hart_valid && gdb->hart_src == gdb->general && gdb->hart_position == position) return &gdb->hart;
    ntr_gdb_forget_state(gdb);
    ntr_status status = ntr_replay_hart_at(gdb->replay, gdb->general, &gdb->hart);
    if (status == NTR_E_MEMORY) gdb->failed = status;
    if (status != NTR_OK) return NULL;
    gdb->hart_valid = true;
    gdb->hart_src = gdb->general;
    gdb->hart_position = position;
    return &gdb->hart;
}

/* Returns a top below which there is no image. */
static uint64_t stack_top(const ntr_gdb *gdb, const ntr_replay_hart *hart) {
    const bool rv32 = gdb->xlen == 32;
    uint64_t top = (rv32 ? NTR_GDB_STACKS_32 : NTR_GDB_STACKS_64) - gdb->general * (rv32 ? HART_32 : HART_64);
    size_t image;
    while (ntr_program_image_at(gdb->config.program, ntr_place_at(&hart->context, hart->offset, top - 1), &image) ==
               NTR_OK &&
           top > HART_64)
        top -= rv32 ? HART_32 : HART_64;
    return top;
}

const ntr_invented_stack *ntr_gdb_stack(ntr_gdb *gdb) {
    const ntr_replay_hart *hart = ntr_gdb_hart(gdb);
    if (!hart) return NULL;
    if (gdb->stack_valid) return &gdb->stack;
    gdb->stack.places = gdb->images.return_places;
    gdb->stack.direct = gdb->direct;
    ntr_status status = ntr_invented_stack_make(&gdb->stack, gdb->replay, hart, stack_top(gdb, hart));
    if (status != NTR_OK) gdb->failed = status;
    gdb->uses_places |= gdb->stack.has_places;
    gdb->stack_valid = status == NTR_OK;
    return gdb->stack_valid ? &gdb->stack : NULL;
}

size_t ntr_gdb_depth(ntr_gdb *gdb, bool *trap) {
    const ntr_replay_hart *hart = ntr_gdb_hart(gdb);
    ntr_stack_frame frame;
    size_t depth = 0;
    *trap = false;
    for (uint32_t number = hart ? hart->frame : 0; ntr_replay_frame(gdb->replay, number, &frame, &number); depth++)
        if (!depth) *trap = frame.kind >= NTR_FRAME_EXCEPTION;
    return depth;
}
