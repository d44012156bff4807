/* Capture plugin for QEMU user mode: reports to the capture engine which blocks the guest executes
 * (channel/channel.h). */
#include "state.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int qemu_plugin_version = NTRACE_QEMU_API_VERSION;

static void start_vcpu(qemu_plugin_id_t id, unsigned vcpu) {
    (void)id;
    record_init_lane(vcpu);
}

static void register_all(qemu_plugin_id_t id) {
    qemu_plugin_register_vcpu_init_cb(id, start_vcpu);
    qemu_plugin_register_vcpu_tb_trans_cb(id, instrument);
    qemu_plugin_register_vcpu_syscall_cb(id, syscalls_before);
    qemu_plugin_register_vcpu_syscall_ret_cb(id, syscalls_after);
}

/* ---- fork: the parent is traced, the child is not -------------------------------------------------- */

static void in_parent(void) {
    if (!plugin_detached) atomic_fetch_add(&channel->head.forks, 1);
}

/* The translated code of the child continues to write. It gets private memory at the same address. */
static void in_child(void) {
    uint32_t lanes = atomic_load(&channel->head.lanes);

    plugin_detached = true;
    if (mmap(channel, sizeof *channel, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
             -1, 0) == MAP_FAILED)
        _exit(127); /* it would damage the parent's trace */
    for (uint32_t i = 0; i < lanes; i++) record_init_lane(i);
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

static int refuse(const char *why) {
    fprintf(stderr, "ntrace-qemu: %s\n", why);
    return -1;
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv) {
    static const char option[] = "channel=";
    bool is_64 = strcmp(info->target_name, "riscv64") == 0;

    if (info->system_emulation || (!is_64 && strcmp(info->target_name, "riscv32") != 0))
        return refuse("this is not QEMU's RISC-V user mode");
    if (argc != 1 || strncmp(argv[0], option, strlen(option)) != 0)
        return refuse("expected channel=PATH; this plugin works inside `ntrace run`");
    if (!map_channel(argv[0] + strlen(option)))
        return refuse("the channel does not fit: is this another version's plugin?");
    plugin_id = id;
    plugin_register = register_all;
    channel->head.base = (uintptr_t)channel;
    plugin_is_readers_child = (uint32_t)getppid() == channel->head.reader;
    channel->head.xlen = is_64 ? 64 : 32;
    if (pthread_atfork(NULL, in_parent, in_child)) return refuse("out of memory");
    register_all(id);
    atomic_store(&channel->head.attached, 1);
    return 0;
}
