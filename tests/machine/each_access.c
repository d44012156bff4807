/* A plugin for QEMU 10.0 or 11.1 (NTRACE_QEMU_API): writes down every load and store of the harts. The truth for
 * `ntrace run --machine
 * --data`, loaded beside its plugin. It shares with it the declarations of QEMU's interface only. It does not ask QEMU
 * for the value of an access: it reads the memory behind it.
 *
 * The file has a record of 40 bytes for each access, in order: address, bytes in memory (8 each), instructions begun
 * before (8), hart (4), privilege mode (4), size (4), 1 for a store, plus 2 if the bytes are not those of the access (a
 * device, or a load of an atomic instruction, which has stored since) (4). Argument: out=FILE. */
#include "api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HARTS = 64, ATOMIC = 0x2f };

struct qemu_plugin_hwaddr;
struct qemu_plugin_hwaddr *qemu_plugin_get_hwaddr(qemu_access, uint64_t);
bool qemu_plugin_hwaddr_is_io(const struct qemu_plugin_hwaddr *);

int qemu_plugin_version = NTRACE_QEMU_API;

static struct hart {
    struct qemu_plugin_register *priv;
    qemu_bytes *bytes;
    uint64_t instructions;
    uint32_t mode;
} harts[HARTS];
static FILE *out;

static void on_access(unsigned vcpu, qemu_access info, uint64_t address, void *opcode) {
    struct hart *hart = &harts[vcpu];
    struct {
        uint64_t address, data, instructions;
        uint32_t hart, mode, size, flags;
    } row = {.address = address, .instructions = hart->instructions, .hart = vcpu, .mode = hart->mode};
    const bool store = qemu_plugin_mem_is_store(info),
               io = qemu_plugin_hwaddr_is_io(qemu_plugin_get_hwaddr(info, address));
    const bool other = io || ((uintptr_t)opcode == ATOMIC && !store);

    row.size = 1u << qemu_plugin_mem_size_shift(info);
    row.flags = (store ? 1u : 0u) | (other ? 2u : 0u);
    g_byte_array_set_size(hart->bytes, 0);
    if (!io && (!qemu_plugin_read_memory_vaddr(address, hart->bytes, row.size) || row.size > sizeof row.data)) abort();
    if (!io) memcpy(&row.data, hart->bytes->data, row.size);
    if (fwrite(&row, sizeof row, 1, out) != 1) abort();
}

static void on_block(unsigned vcpu, void *nothing) {
    struct hart *hart = &harts[vcpu];

    (void)nothing;
    g_byte_array_set_size(hart->bytes, 0);
    qemu_plugin_read_register(hart->priv, hart->bytes);
    hart->mode = hart->bytes->data[0];
}

static void on_instruction(unsigned vcpu, void *nothing) {
    (void)nothing;
    harts[vcpu].instructions++;
}

static QEMU_TB_CALLBACK(translate) {
    QEMU_IGNORE;
    qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_READ_REGS, NULL);
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
        struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(tb, i);
        unsigned char first = 0;
        qemu_plugin_insn_data(instruction, &first, 1);
        qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_instruction, QEMU_NO_REGS, NULL);
        qemu_plugin_register_vcpu_mem_cb(instruction, on_access, QEMU_NO_REGS, QEMU_MEM_RW,
                                         (void *)(uintptr_t)(first & 0x7f));
    }
}

static QEMU_VCPU_CALLBACK(start) {
    const qemu_registers *all = qemu_plugin_get_registers();

    QEMU_IGNORE;
    if (vcpu >= HARTS) abort();
    harts[vcpu].bytes = g_byte_array_new();
    for (unsigned i = 0; i < all->length; i++)
        if (strcmp(all->data[i].name, "priv") == 0) harts[vcpu].priv = all->data[i].handle;
}

static QEMU_EXIT_CALLBACK(finish) {
    QEMU_IGNORE;
    (void)nothing;
    if (fclose(out)) abort();
}

int qemu_plugin_install(qemu_id id, const qemu_info *info, int argc, char **argv) {
    (void)info;
    for (int i = 0; i < argc; i++)
        if (strncmp(argv[i], "out=", 4) == 0) out = fopen(argv[i] + 4, "w");
    if (!out) return -1;
    qemu_plugin_register_vcpu_init_cb(id, QEMU_WITH(start));
    qemu_plugin_register_vcpu_tb_trans_cb(id, QEMU_WITH(translate));
    qemu_plugin_register_atexit_cb(id, finish, NULL);
    return 0;
}
