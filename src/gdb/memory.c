/* Memory: the bytes of the images that cannot change, and the words of the invented stack. */
#include "gdb/server.h"

enum { BYTES_MAX = NTR_GDB_PACKET_SIZE / 2 };

static size_t read_images(ntr_gdb *gdb, uint64_t address, uint8_t *out, size_t size) {
    const ntr_replay_hart *hart = ntr_gdb_hart(gdb);
    size_t constant = ntr_gdb_images_constant(&gdb->images, address, size);
    return ntr_program_read(gdb->config.program, hart ? &hart->context : NULL, hart ? hart->offset : NTR_POSITION_ANY,
                            address, out, constant);
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
    if (got == 0 && size) ntr_gdb_text_print(&gdb->answer, "E01");
    else ntr_gdb_text_hex(&gdb->answer, bytes, got);
}
