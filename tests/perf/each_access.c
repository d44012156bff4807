/* QEMU plugin for tests: writes down every load and store of the program as QEMU reports it.
 *
 * It shares nothing with the capture plugin but the declarations of QEMU's interface. Both see the same run; this one
 * knows neither ranges nor blocks, and asks the kernel for the bytes.
 *
 * The file has a record of 32 bytes for each access, in order: address, low and high half of the bytes in memory behind
 * the access (8 bytes each), the vCPU (4 bytes), size (2 bytes), 1 for a store (2 bytes). Arguments: out=FILE,
 * base=ADDRESS: where guest address 0 is (QEMU's option -B). */
#include "plugins/qemu/api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

int qemu_plugin_version = NTRACE_QEMU_API;

static FILE *out;
static uint64_t base;

static void on_access(unsigned index, qemu_access info, uint64_t address, void *user) {
    struct {
        uint64_t address, data[2];
        uint32_t index;
        uint16_t size, store;
    } row = {.address = address, .index = index};
    (void)user;
    row.size = (uint16_t)(1u << qemu_plugin_mem_size_shift(info));
    row.store = qemu_plugin_mem_is_store(info);
    if (row.size > sizeof row.data) abort();
    const struct iovec to = {row.data, row.size}, from = {(void *)(uintptr_t)(base + address), row.size};
    if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) != row.size || fwrite(&row, sizeof row, 1, out) != 1) abort();
}

static QEMU_TB_CALLBACK(on_block) {
    QEMU_IGNORE;
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++)
        qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(tb, i), on_access, QEMU_NO_REGS, QEMU_MEM_RW, NULL);
}

static QEMU_EXIT_CALLBACK(on_end) {
    QEMU_IGNORE, (void)nothing;
    if (fclose(out)) abort();
}

int qemu_plugin_install(qemu_id id, const qemu_info *info, int argc, char **argv) {
    (void)info;
    for (int i = 0; i < argc; i++) {
        if (strncmp(argv[i], "out=", 4) == 0) out = fopen(argv[i] + 4, "w");
        if (strncmp(argv[i], "base=", 5) == 0) base = strtoull(argv[i] + 5, NULL, 0);
    }
    if (!out) return -1;
    qemu_plugin_register_vcpu_tb_trans_cb(id, QEMU_WITH(on_block));
    qemu_plugin_register_atexit_cb(id, on_end, NULL);
    return 0;
}
