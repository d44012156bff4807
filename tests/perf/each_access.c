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

void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, void (*)(qemu_plugin_id_t, void *), void *);

int qemu_plugin_version = NTRACE_QEMU_API_VERSION;

static FILE *out;
static uint64_t base;

static void on_access(unsigned index, qemu_plugin_meminfo_t info, uint64_t address, void *user) {
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

static void on_block(qemu_plugin_id_t id, struct qemu_plugin_tb *block) {
    (void)id;
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++)
        qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(block, i), on_access, QEMU_PLUGIN_CB_NO_REGS,
                                         QEMU_PLUGIN_MEM_RW, NULL);
}

static void on_end(qemu_plugin_id_t id, void *user) {
    (void)id, (void)user;
    if (fclose(out)) abort();
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv) {
    (void)info;
    for (int i = 0; i < argc; i++) {
        if (strncmp(argv[i], "out=", 4) == 0) out = fopen(argv[i] + 4, "w");
        if (strncmp(argv[i], "base=", 5) == 0) base = strtoull(argv[i] + 5, NULL, 0);
    }
    if (!out) return -1;
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_block);
    qemu_plugin_register_atexit_cb(id, on_end, NULL);
    return 0;
}
