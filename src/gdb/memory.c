/* Memory: the bytes of the images that cannot change, and the words of the invented stack. */
#include "gdb/server.h"

#include "program/program.h"

#include <string.h>

enum { BYTES_MAX = NTR_GDB_PACKET_SIZE / 2 };

/* Stores the bytes of an image at the address. Code of user mode is there for the debugger while its trap is handled,
 * too. */
static bool find_window(const ntr_gdb *gdb, const ntr_replay_hart *hart, uint64_t address, ntr_code_window *window) {
    if (!hart) return ntr_program_window(gdb->config.program, ntr_place_at(NULL, NTR_POSITION_ANY, address), window);
    ntr_context any_mode = hart->context;
    any_mode.prv = NTR_PRV_UNKNOWN;
    return ntr_program_window(gdb->config.program, ntr_place_at(&hart->context, hart->offset, address), window) ||
           ntr_program_window(gdb->config.program, ntr_place_at(&any_mode, hart->offset, address), window);
}

/* Code that was recorded, in images without a file, is constant where it is valid, also if it is in a writable segment
 * of a file: it was executed. */
static size_t read_images(ntr_gdb *gdb, uint64_t address, uint8_t *out, size_t size) {
    const ntr_replay_hart *hart = ntr_gdb_hart(gdb);
    ntr_code_window window;
    size_t done = 0;
    while (done < size) {
        if (!find_window(gdb, hart, address + done, &window)) { /* a reader of the program may have it */
            if (ntr_program_read(
                    gdb->config.program,
                    ntr_place_at(hart ? &hart->context : NULL, hart ? hart->offset : NTR_POSITION_ANY, address + done),
                    out + done, 1) == 0)
                break;
            done++;
            continue;
        }
        const uint64_t left = window.size - (address + done - window.first);
        size_t part = left < size - done ? (size_t)left : size - done;
        const size_t constant = ntr_gdb_images_constant(&gdb->images, window.image, address + done, part);
        memcpy(out + done, window.bytes + (address + done - window.first), constant);
        done += constant;
        if (!constant) break;
    }
    return done;
}

void ntr_gdb_read_memory(ntr_gdb *gdb, const char *packet) {
    uint8_t bytes[BYTES_MAX];
    uint64_t address, size;
    const char *at = packet + 1;
    if (!ntr_gdb_number(&at, &address) || !ntr_gdb_character(&at, ',') || !ntr_gdb_number(&at, &size) || *at) {
        ntr_gdb_text_print(&gdb->answer, "E01");
        return;
    }
    if (size > sizeof bytes) size = sizeof bytes;
    size_t got = read_images(gdb, address, bytes, (size_t)size);
    const ntr_invented_stack *stack = got ? NULL : ntr_gdb_stack(gdb);
    if (stack) got = ntr_invented_stack_read(stack, address, bytes, (size_t)size);
    if (got == 0 && size)
        ntr_gdb_text_print(&gdb->answer, "E01");
    else
        ntr_gdb_text_hex(&gdb->answer, bytes, got);
}
