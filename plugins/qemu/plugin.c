/* Capture plugin for QEMU user mode: reports to the capture engine which blocks the guest executes
 * (channel/channel.h). */
#include "state.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int qemu_plugin_version = NTRACE_QEMU_API;

static QEMU_VCPU_CALLBACK(start_vcpu) {
    QEMU_IGNORE;
    if (vcpu) plugin_become_shared();
    record_init_lane(vcpu);
}

static QEMU_ID_CALLBACK(register_all) {
    QEMU_IGNORE;
    qemu_plugin_register_vcpu_init_cb(plugin_id, QEMU_WITH(start_vcpu));
    qemu_plugin_register_flush_cb(plugin_id, QEMU_WITH(plugin_discarded));
    qemu_plugin_register_vcpu_tb_trans_cb(plugin_id, QEMU_WITH(instrument));
    qemu_plugin_register_vcpu_syscall_cb(plugin_id, QEMU_WITH(syscalls_before));
    qemu_plugin_register_vcpu_syscall_ret_cb(plugin_id, QEMU_WITH(syscalls_after));
}

/* ---- start ------------------------------------------------------------------------------------------ */

static bool map_channel(const char *path) {
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) return false;
    void *memory = mmap(NULL, sizeof *channel, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
    close(file); /* the guest must not inherit it */
    if (memory == MAP_FAILED) return false;
    channel = memory;
    return channel->head.magic == CHANNEL_MAGIC && channel->head.size == sizeof *channel;
}

/* "none": this process is not traced, but the programs that it executes are still followed. */
static bool make_channel(void) {
    void *memory =
        mmap(NULL, sizeof *channel, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return false;
    channel = memory;
    channel->head.follow = CHANNEL_FOLLOW_EXEC;
    plugin_detached = true;
    return true;
}

static int refuse(const char *why) {
    fprintf(stderr, "ntrace-qemu: %s\n", why);
    return -1;
}

/* Wait until the reader has read what the program before this one has left. */
static bool take_over(void) {
    uint32_t expected = CHANNEL_NEW;

    while (!atomic_compare_exchange_strong(&channel->head.state, &expected, CHANNEL_ATTACHED)) {
        if (expected == CHANNEL_ATTACHED) atomic_store(&channel->head.state, CHANNEL_REPLACED);
        if (plugin_given_up()) return false;
        plugin_nap();
        expected = CHANNEL_NEW;
    }
    return true;
}

static bool has_value(const char *argument, const char *name, const char **value) {
    size_t length = strlen(name);
    if (strncmp(argument, name, length) == 0) *value = argument + length;
    return strncmp(argument, name, length) == 0;
}

int qemu_plugin_install(qemu_id id, const qemu_info *info, int argc, char **argv) {
    bool is_64 = strcmp(info->target_name, "riscv64") == 0;
    const char *path = NULL;

    if (info->system_emulation || (!is_64 && strcmp(info->target_name, "riscv32") != 0))
        return refuse("this is not QEMU's RISC-V user mode");
    for (int i = 0; i < argc; i++)
        if (!has_value(argv[i], "channel=", &path)) has_value(argv[i], "root=", &plugin_root);
    if (plugin_root) plugin_root = strdup(plugin_root);
    if (!path) return refuse("expected channel=PATH; this plugin works inside `ntrace run`");
    if (strcmp(path, "none") == 0 ? !make_channel() : !map_channel(path))
        return refuse("the channel does not fit: is this another version's plugin?");
    plugin_id = id;
    plugin_register = register_all;
    plugin_is_readers_child = (uint32_t)getppid() == channel->head.reader;
    if (!plugin_detached && !take_over()) return refuse("ntrace has ended");
    channel->head.base = (uintptr_t)channel;
    channel->head.xlen = is_64 ? 64 : 32;
    replace_begin();
    if (!fork_watch()) return refuse("out of memory");
    if (!plugin_detached) plugin_end_with_reader();
    register_all(QEMU_OWN);
    return 0;
}
