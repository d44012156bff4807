/* The state of the selected hart: its place, registers and stack, computed when they are asked for. */
#include "gdb/server.h"

/* Tops of the invented stacks, outside of user images; each hart has a stack of its own below. */
#define TOP_64 UINT64_C(0x3ffffff000)
#define TOP_32 UINT64_C(0xfffff000)
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
static uint64_t stack_top(const ntr_gdb *gdb, const ntr_context *context) {
    const bool rv32 = gdb->xlen == 32;
    uint64_t top = (rv32 ? TOP_32 : TOP_64) - gdb->general * (rv32 ? HART_32 : HART_64);
    size_t image;
    while (ntr_program_image_at(gdb->config.program, context, top - 1, &image) == NTR_OK && top > HART_64)
        top -= rv32 ? HART_32 : HART_64;
    return top;
}

const ntr_invented_stack *ntr_gdb_stack(ntr_gdb *gdb) {
    const ntr_replay_hart *hart = ntr_gdb_hart(gdb);
    if (!hart) return NULL;
    if (gdb->stack_valid) return &gdb->stack;
    ntr_status status = ntr_invented_stack_make(&gdb->stack, gdb->replay, hart, stack_top(gdb, &hart->context));
    if (status != NTR_OK) gdb->failed = status;
    gdb->stack_valid = status == NTR_OK;
    return gdb->stack_valid ? &gdb->stack : NULL;
}
