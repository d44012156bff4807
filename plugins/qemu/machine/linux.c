/* A Linux guest: which task runs, and what pages its programs execute.
 *
 * Tasks. In the kernel, tp is the current task_struct; __switch_to sets it by a move. Where the name (`comm`), pid and
 * tgid are in it is in channel_head, if the types of the kernel are known; the first task that fits shows that this
 * kernel runs, and not a boot loader. If they are not known, the name is found once: the first tasks are named
 * "swapper". pid and tgid are two equal numbers in front of it: 2 in "kthreadd", 0 in "swapper". execve changes the
 * name of a task, and its address space: behind that, the name is read again when the task has trapped for the next
 * time.
 *
 * Pages. When code of user mode is translated, its page is hashed. A page of an address space is told again when its
 * content has changed. */
#include "machine.h"
#include "channel/page_hash.h"

#include <string.h>

enum { TASK_SIZE = 8192, TRIES = 4096, NAME = 16, PAGES = 1 << 15, SETTLED = 3 };

static _Atomic uint32_t comm_at, pid_at, tgid_at, tries; /* offsets in task_struct; 0: not known */

static bool read_memory(uint64_t address, uint8_t *to, size_t size) {
    static _Thread_local qemu_bytes *bytes;

    if (!bytes) bytes = g_byte_array_new();
    g_byte_array_set_size(bytes, 0);
    if (!qemu_plugin_read_memory_vaddr(address, bytes, size) || bytes->length < size) return false;
    memcpy(to, bytes->data, size);
    return true;
}

/* ---- tasks --------------------------------------------------------------------------------------------------------
 */

static uint32_t number_at(const uint8_t *task, uint32_t at) {
    uint32_t value;
    memcpy(&value, task + at, sizeof value);
    return value;
}

static void find_name(uint64_t task) {
    static const char word[] = "swapper";
    uint8_t memory[TASK_SIZE];

    if (atomic_fetch_add(&tries, 1) >= TRIES || !read_memory(task, memory, sizeof memory)) return;
    for (uint32_t i = 64; i + NAME < TASK_SIZE; i += 4) {
        if (memcmp(memory + i, word, sizeof word - 1) != 0) continue;
        atomic_store(&comm_at, i);
        return;
    }
}

/* The task is "kthreadd". */
static void find_pid(uint64_t task) {
    uint8_t memory[TASK_SIZE];
    uint32_t name = atomic_load(&comm_at);

    if (!read_memory(task, memory, name)) return;
    for (uint32_t i = name & ~3u; i >= 8; i -= 4) {
        if (number_at(memory, i - 8) != 2 || number_at(memory, i - 4) != 2) continue;
        atomic_store(&tgid_at, i - 4);
        atomic_store(&pid_at, i - 8);
        return;
    }
}

static bool read_number(uint64_t address, uint32_t *value) {
    uint8_t bytes[4];
    if (!read_memory(address, bytes, sizeof bytes)) return false;
    *value = number_at(bytes, 0);
    return true;
}

/* A name that ends, of characters that can be printed. */
static bool is_name(const uint8_t name[NAME]) {
    unsigned n = 0;
    while (n < NAME && name[n] > ' ' && name[n] < 0x7f) n++;
    return n && n < NAME && !name[n];
}

/* Takes the members that the types of the kernel have, when the task, at an address of the kernel, fits to them. */
static void check_types(const struct machine_hart *hart, uint64_t task) {
    enum { PID_MOST = 4194304 };
    const struct channel_head *head = &channel->head;
    uint32_t pid, tgid;
    uint8_t name[NAME];

    if (!hart->satp || !(task >> (head->xlen - 1))) return;
    if (!read_memory(task + head->task_name, name, NAME) || !is_name(name)) return;
    if (!read_number(task + head->task_pid, &pid) || !read_number(task + head->task_tgid, &tgid) || pid > PID_MOST ||
        tgid > PID_MOST)
        return;
    atomic_store(&tgid_at, head->task_tgid);
    atomic_store(&pid_at, head->task_pid);
    atomic_store(&comm_at, head->task_name);
}

static void find_members(const struct machine_hart *hart, uint64_t task) {
    if (channel->head.task_name)
        check_types(hart, task);
    else
        find_name(task);
}

static void push_pair(struct machine_hart *hart, uint64_t value) {
    lane_push(hart->lane, (uint32_t)value);
    lane_push(hart->lane, (uint32_t)(value >> 32));
}

/* Tells the task, unless it is known under this name. */
static void report(struct machine_hart *hart, uint64_t task, bool again) {
    uint8_t name[NAME];
    uint32_t pid = UINT32_MAX, tgid = UINT32_MAX;

    if (!atomic_load(&comm_at) || !read_memory(task + atomic_load(&comm_at), name, NAME)) return;
    name[NAME - 1] = 0;
    if (!again && task == hart->task && memcmp(name, hart->name, NAME) == 0) return;
    if (!atomic_load(&pid_at) && strcmp((const char *)name, "kthreadd") == 0) find_pid(task);
    if (atomic_load(&pid_at) &&
        (!read_number(task + atomic_load(&pid_at), &pid) || !read_number(task + atomic_load(&tgid_at), &tgid)))
        pid = tgid = UINT32_MAX;
    hart->task = task;
    memcpy(hart->name, name, NAME);
    lane_push(hart->lane, CHANNEL_TASK);
    push_pair(hart, task);
    lane_push(hart->lane, pid);
    lane_push(hart->lane, tgid);
    for (unsigned i = 0; i < NAME; i += 4) lane_push(hart->lane, number_at(name, i));
}

void machine_switch_task(struct machine_hart *hart) {
    uint64_t task = machine_read(hart, REGISTER_TP);

    if (!atomic_load(&comm_at)) find_members(hart, task);
    if (hart->task && hart->task != task) report(hart, hart->task, false); /* its name may have changed */
    if (hart->task != task) report(hart, task, true);
}

void machine_check_task(struct machine_hart *hart, uint8_t before, uint8_t now, bool trapped) {
    if (hart->renames && trapped && before == 0 && now == 1) hart->waits = SETTLED;
    if (!hart->waits || now != 1 || --hart->waits) return;
    hart->renames = false;
    report(hart, machine_read(hart, REGISTER_TP), false);
}

/* ---- pages --------------------------------------------------------------------------------------------------------
 */

void machine_report_page(struct machine_hart *hart, uint64_t address) {
    static struct page {
        uint64_t satp, address, hash;
    } known[PAGES]; /* the lock of the tables protects it */
    uint64_t page = address & ~(uint64_t)(NTR_PAGE_BYTES - 1);
    uint8_t bytes[NTR_PAGE_BYTES];

    if (!lane_is_traced(hart->lane) || !read_memory(page, bytes, sizeof bytes)) return;
    const struct page is = {hart->satp, page, ntr_page_hash(bytes)};
    struct page *slot = &known[((is.satp ^ page >> 12) * 0x9e3779b97f4a7c15u >> 32) % PAGES];
    if (slot->satp == is.satp && slot->address == is.address && slot->hash == is.hash) return;
    *slot = is;
    lane_push(hart->lane, CHANNEL_PAGE);
    push_pair(hart, page);
    push_pair(hart, is.hash);
}
