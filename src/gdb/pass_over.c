/* Code between two functions, which a debugger steps through by knowledge of GNU/Linux. Without that OS ABI it stops
 * there, or takes the way to the function for a call to be stepped over:
 *
 * - The first call of a function of a shared library goes to a stub of the procedure linkage table (PLT), from there to
 * the header of the table and to the dynamic linker, which jumps to the function. A step over the line is known to be
 * in a stub, because its range ends there, with a call, and the debugger steps on by single instructions without
 * removing its breakpoints. (If a function ends with a jump to a stub, `next` stops there. Without breakpoints, such a
 * stop cannot be told from a part of `step`.)
 * - The handler of a signal returns to two instructions of the kernel: li a7, 139 (rt_sigreturn); ecall.
 *
 * Single steps of a user show this code. */
#include "gdb/server.h"
#include "base/bytes.h"

#include <string.h>

enum { PLT_HEADER_SIZE = 32, SIGRETURN_SIZE = 8 };

static bool has_words(const ntr_gdb *gdb, const ntr_replay_hart *hart, uint32_t first, uint32_t first_mask,
                      uint32_t second) {
    uint8_t bytes[8];
    if (ntr_program_read(gdb->config.program, ntr_place_at(&hart->context, hart->offset, hart->address), bytes,
                         sizeof bytes) != sizeof bytes)
        return false;
    return (ntr_little_32(bytes) & first_mask) == first && ntr_little_32(bytes + 4) == second;
}

/* psABI, "Procedure Linkage Table": auipc t2, ...; sub t1, t1, t3. */
static bool is_plt_header(const ntr_gdb *gdb, const ntr_replay_hart *hart) {
    return has_words(gdb, hart, 0x00000397, 0xfff, 0x41c30333);
}

static bool is_sigreturn(const ntr_gdb *gdb, const ntr_replay_hart *hart) {
    return has_words(gdb, hart, 0x08b00893, UINT32_MAX, 0x00000073);
}

static bool is_stub(const ntr_gdb *gdb, const ntr_replay_hart *hart) {
    static const char suffix[] = "@plt";
    ntr_symbol symbol;
    if (ntr_program_symbol(gdb->config.program, ntr_place_at(&hart->context, hart->offset, hart->address), &symbol) !=
        NTR_OK)
        return false;
    const size_t length = strlen(symbol.name);
    return length > sizeof suffix - 1 && strcmp(symbol.name + length - (sizeof suffix - 1), suffix) == 0;
}

/* Goes on while the hart executes code in [low, high) or frames that were entered there. */
static ntr_status leave(ntr_gdb *gdb, const ntr_replay_step *step, uint64_t low, uint64_t high, ntr_replay_stop *stop) {
    ntr_replay_step on = *step;
    bool trap;
    const size_t depth = ntr_gdb_depth(gdb, &trap);
    on.low = low;
    on.high = high;
    for (;;) {
        const ntr_status status = ntr_replay_go_step(gdb->replay, &on, stop);
        ntr_gdb_forget_state(gdb);
        if (status != NTR_OK || stop->reason != NTR_REPLAY_LIMIT || ntr_gdb_depth(gdb, &trap) <= depth) return status;
    }
}

/* From the header of the table to the first instruction of the function, or, if this is not there, of what the dynamic
 * linker has called. */
static ntr_status leave_linker(ntr_gdb *gdb, const ntr_replay_step *step, ntr_replay_stop *stop) {
    const ntr_replay_hart *hart = ntr_gdb_hart(gdb);
    ntr_image_info info;
    size_t image;
    ntr_status status = leave(gdb, step, hart->address, hart->address + PLT_HEADER_SIZE, stop);
    if (status != NTR_OK || stop->reason != NTR_REPLAY_LIMIT || !(hart = ntr_gdb_hart(gdb))) return status;
    if (ntr_program_image_at(gdb->config.program, ntr_place_at(&hart->context, hart->offset, hart->address), &image) !=
            NTR_OK ||
        ntr_program_image(gdb->config.program, image, &info) != NTR_OK)
        return NTR_OK;
    return leave(gdb, step, info.low, info.high, stop);
}

ntr_status ntr_gdb_pass_over(ntr_gdb *gdb, const ntr_replay_step *step, bool line, size_t depth,
                             ntr_replay_stop *stop) {
    const bool was_in_stub = gdb->in_stub;
    gdb->in_stub = false;
    if (!line && !was_in_stub) return NTR_OK;
    gdb->general = step->src;
    ntr_gdb_forget_state(gdb);
    const ntr_replay_hart *hart = ntr_gdb_hart(gdb);
    if (!hart || hart->ended || !hart->address_known) return NTR_OK;
    if (was_in_stub && is_plt_header(gdb, hart)) return leave_linker(gdb, step, stop);
    if (is_sigreturn(gdb, hart)) return leave(gdb, step, hart->address, hart->address + SIGRETURN_SIZE, stop);
    bool trap;
    if (line)
        gdb->in_stub = is_stub(gdb, hart) && (ntr_gdb_depth(gdb, &trap) > depth || gdb->breakpoints.count);
    else
        gdb->in_stub = was_in_stub && is_stub(gdb, hart);
    return NTR_OK;
}
