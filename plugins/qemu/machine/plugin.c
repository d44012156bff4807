/* Capture plugin for QEMU's machines (qemu-system-riscv32, -riscv64): reports to the capture engine which blocks the
 * harts execute, their traps, and what address space they are in (channel/channel.h). Compiled once for each version of
 * QEMU's interface. */
#include "machine.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int qemu_plugin_version = NTRACE_QEMU_API;

/* ---- harts --------------------------------------------------------------------------------------------------------
 */

static QEMU_VCPU_CALLBACK(start_vcpu) {
    struct machine_hart *hart = machine_hart_begin(vcpu);

    QEMU_IGNORE;
    hart->log = hart->line = machine_log_start();
    lane_begin(hart->lane, vcpu);
    machine_log_resume(hart);
}

/* The hart sleeps, or the machine has been stopped, which it is before it ends. */
static QEMU_VCPU_CALLBACK(idle) {
    struct machine_hart *hart = machine_hart(vcpu);

    QEMU_IGNORE;
    machine_log_idle(hart);
    hart->stopped = hart->registers[REGISTER_ADDRESS];
    hart->stopped_at = machine_read(hart, REGISTER_ADDRESS);
    machine_halt(vcpu);
}

static QEMU_VCPU_CALLBACK(resume) {
    struct machine_hart *hart = machine_hart(vcpu);

    QEMU_IGNORE;
    machine_log_resume(hart);
    hart->log = hart->line;
    hart->stopped = false;
    hart->until_time = 0;
}

/* ---- the end ------------------------------------------------------------------------------------------------------
 */

/* QEMU stops all harts before it ends, but for semihosting: there a hart ends QEMU while the others continue. */
static QEMU_EXIT_CALLBACK(end) {
    uint32_t lanes = atomic_load(&channel->head.lanes);

    QEMU_IGNORE;
    (void)nothing;
    if (machine_present())
        machine_end(machine_present_vcpu());
    else
        for (uint32_t i = 0; i < lanes; i++) machine_end(i);
}

/* ---- start --------------------------------------------------------------------------------------------------------
 */

static bool map_channel(const char *path) {
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) return false;
    void *memory = mmap(NULL, sizeof *channel, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
    close(file);
    if (memory == MAP_FAILED) return false;
    channel = memory;
    return channel->head.magic == CHANNEL_MAGIC && channel->head.size == sizeof *channel;
}

static int refuse(const char *why) {
    fprintf(stderr, "ntrace-qemu-machine: %s\n", why);
    return -1;
}

static const char *value_of(int argc, char **argv, const char *name) {
    size_t length = strlen(name);
    for (int i = 0; i < argc; i++)
        if (strncmp(argv[i], name, length) == 0) return argv[i] + length;
    return NULL;
}

static void register_all(qemu_id id) {
    qemu_plugin_register_vcpu_init_cb(id, QEMU_WITH(start_vcpu));
    qemu_plugin_register_vcpu_idle_cb(id, QEMU_WITH(idle));
    qemu_plugin_register_vcpu_resume_cb(id, QEMU_WITH(resume));
    qemu_plugin_register_vcpu_tb_trans_cb(id, QEMU_WITH(machine_translate));
    qemu_plugin_register_atexit_cb(id, end, NULL);
    machine_watch_traps(id);
}

int qemu_plugin_install(qemu_id id, const qemu_info *info, int argc, char **argv) {
    bool is_64 = strcmp(info->target_name, "riscv64") == 0;
    const char *path = value_of(argc, argv, "channel="), *log = value_of(argc, argv, "log=");

    if (!info->system_emulation || (!is_64 && strcmp(info->target_name, "riscv32") != 0))
        return refuse("this is not a RISC-V machine of QEMU");
    if (!path || !log) return refuse("expected channel=PATH,log=PATH; this plugin works inside `ntrace run --machine`");
    if (!map_channel(path)) return refuse("the channel does not fit: is this another version's plugin?");
    if (!machine_map_log(log)) return refuse("QEMU's log cannot be mapped");
    machine_harts_new(info->system.max_vcpus);
    machine_marks_all = value_of(argc, argv, "marks=all") != NULL;
    plugin_is_readers_child = (uint32_t)getppid() == channel->head.reader;
    channel->head.base = (uintptr_t)channel;
    channel->head.xlen = is_64 ? 64 : 32;
    atomic_store(&channel->head.shared, 1); /* no loop is counted */
    atomic_store(&channel->head.state, CHANNEL_ATTACHED);
    plugin_end_with_reader();
    register_all(id);
    return 0;
}
