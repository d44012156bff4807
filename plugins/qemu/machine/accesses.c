/* Loads and stores (ntrace run --machine --data): behind the number of the block that makes them, in order.
 *
 * QEMU calls when an access is done, so one that faults is not reported. An access to a device that QEMU executes alone
 * comes between its block and the record CHANNEL_PART. */
#include "machine.h"

#if NTRACE_QEMU_API < 4
#error "the value of an access is known since version 4"
#endif

static void record_access(unsigned vcpu, qemu_access info, uint64_t address, void *nothing) {
    struct channel_lane *lane = machine_hart(vcpu)->lane;
    const qemu_plugin_mem_value value = qemu_plugin_mem_get_value(info);
    const bool store = qemu_plugin_mem_is_store(info);

    (void)nothing;
    if (channel->head.xlen == 32) address = (uint32_t)address;
    switch (value.type) {
    case QEMU_MEM_VALUE_U8: lane_push_access(lane, store, 0, address, value.data.u8); break;
    case QEMU_MEM_VALUE_U16: lane_push_access(lane, store, 1, address, value.data.u16); break;
    case QEMU_MEM_VALUE_U32: lane_push_access(lane, store, 2, address, value.data.u32); break;
    case QEMU_MEM_VALUE_U64: lane_push_access(lane, store, 3, address, value.data.u64); break;
    case QEMU_MEM_VALUE_U128: /* the messages have no such size */
        lane_push_access(lane, store, 3, address, value.data.u128.low);
        lane_push_access(lane, store, 3, address + 8, value.data.u128.high);
        break;
    }
}

void machine_put_accesses(struct qemu_plugin_tb *tb) {
    const size_t count = channel->head.accesses ? qemu_plugin_tb_n_insns(tb) : 0;

    for (size_t i = 0; i < count; i++)
        qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(tb, i), record_access, QEMU_NO_REGS, QEMU_MEM_RW,
                                         NULL);
}
