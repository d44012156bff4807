/* The harts: one element of the scoreboard for each, and its registers. */
#include "machine.h"

#include <string.h>

struct qemu_plugin_scoreboard *machine_harts;
bool machine_marks_all;
struct machine_hart *machine_few;

static bool is_few;
static _Thread_local struct machine_hart *present;
static _Thread_local unsigned present_vcpu;

void machine_harts_new(int most) {
    machine_harts = qemu_plugin_scoreboard_new(sizeof(struct machine_hart));
    is_few = most <= HARTS_AT_ONCE;
}

struct machine_hart *machine_present(void) {
    return present ? machine_hart(present_vcpu) : NULL;
}

unsigned machine_present_vcpu(void) {
    return present_vcpu;
}

uint64_t machine_read(struct machine_hart *hart, enum machine_register name) {
    uint64_t value = 0;

    if (!hart->registers[name]) return 0;
    g_byte_array_set_size(hart->bytes, 0);
    qemu_plugin_read_register(hart->registers[name], hart->bytes);
    memcpy(&value, hart->bytes->data, hart->bytes->length < sizeof value ? hart->bytes->length : sizeof value);
    return value;
}

static void find_registers(struct machine_hart *hart) {
    static const char *const names[REGISTER_COUNT] = {
        [REGISTER_PRIV] = "priv",     [REGISTER_SATP] = "satp",     [REGISTER_HGATP] = "hgatp",
        [REGISTER_MCAUSE] = "mcause", [REGISTER_SCAUSE] = "scause", [REGISTER_MTVAL] = "mtval",
        [REGISTER_STVAL] = "stval",   [REGISTER_TP] = "tp",         [REGISTER_ADDRESS] = "pc",
        [REGISTER_TIME] = "time",     [REGISTER_TIMEH] = "timeh"};
    const qemu_registers *all = qemu_plugin_get_registers();

    for (unsigned i = 0; all && i < all->length; i++) {
        for (unsigned name = 0; name < REGISTER_COUNT; name++)
            if (strcmp(all->data[i].name, names[name]) == 0) hart->registers[name] = all->data[i].handle;
    }
}

struct machine_hart *machine_hart_begin(unsigned vcpu) {
    struct machine_hart *hart = qemu_plugin_scoreboard_find(machine_harts, vcpu);

    if (is_few) machine_few = qemu_plugin_scoreboard_find(machine_harts, 0);
    *hart = (struct machine_hart){.lane = &channel->lanes[vcpu % CHANNEL_THREADS], .epoch = 1};
    hart->bytes = g_byte_array_new();
    find_registers(hart);
    present = hart;
    present_vcpu = vcpu;
    return hart;
}
