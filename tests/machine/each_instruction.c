/* A plugin for QEMU 10.0 or 11.1 (NTRACE_QEMU_API) that is called at each instruction: the truth for `ntrace run
 * --machine`, loaded beside its plugin. It shares no code with it. Address and privilege mode are read at every block:
 * QEMU executes one translation of a page at all addresses at which it is mapped. QEMU's log tells which instruction
 * trapped: a synchronous trap with the address of the instruction that began last takes it back.
 *
 * option out=FILE: for each hart a line "HART COUNT HASH" after every STEP instructions, and at the end.
 * option list=FILE: all instructions of hart 0, or of hart=N, "0xADDRESS MODE".
 * option off=FILE: the numbers of instructions that were executed in a row with the interrupts of S mode switched off,
 * on hart 0; a line for each, with the number of instructions before. Expects one-insn-per-tb=on. option times=FILE:
 * the CSR time when each instruction of hart 0 began that retired, a line for each. Expects one-insn-per-tb=on. option
 * modes=MASK: only instructions of these privilege modes, one bit each: 1 U, 2 S, 8 M. option asid=N: only those that
 * are executed while satp has this ASID (RV64). option versions=FILE,first=ADDRESS,last=ADDRESS: how often each
 * instruction of hart 0 retired that was translated at an address from `first` to `last`, by its bytes: "0xADDRESS
 * 0xBYTES COUNT". option from=ADDRESS: from the first time on that the instruction at this address begins;
 * until=ADDRESS: until this one begins after that. */
#include "api.h"
#include "tests/real/hash.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HARTS = 64, STEP = 1 << 20, ROOM = 1 << 16, VERSIONS = 1 << 22 };

/* Bytes that were executed at an address. */
struct version {
    uint64_t address, count;
    uint32_t bytes;
};

/* A translated instruction. */
struct translated {
    uint64_t offset; /* in its block */
    struct version *version; /* NULL: not counted */
};

int qemu_plugin_version = NTRACE_QEMU_API;

static struct hart {
    uint64_t block;     /* its address */
    uint64_t pc, mode;  /* of the instruction that began last */
    bool open;
    struct version *version; /* of the same */
    uint64_t count, hash;
    off_t read;         /* of the log */
    struct qemu_plugin_register *priv, *address, *status, *time, *satp;
    bool elsewhere;     /* not in the address space of asid= */
    uint64_t now;       /* CSR time at the start of the block */
    bool enabled;       /* interrupts of S mode, when the instruction began */
    bool interrupted;   /* since then */
    uint64_t all, off;  /* instructions; those in a row with interrupts off */
    qemu_bytes *bytes;
} harts[HARTS];
static int log_file;
static _Atomic off_t newest; /* the log has been written at least up to here */
static FILE *out, *list, *off, *times;
static unsigned long modes = ~0ul;
static long asid = -1;
static unsigned listed; /* hart */
static uint64_t from, until;
static FILE *versions;
static uint64_t first_counted, last_counted;
static struct version *table; /* a hash table; a count of 0 and no address: free */
static bool waits, over; /* for `from`; `until` was reached */

static void end_off(struct hart *hart) {
    if (off && hart->off) fprintf(off, "%" PRIu64 " %" PRIu64 "\n", hart->off, hart->all - hart->off);
    hart->off = 0;
}

/* An instruction begins, and retires unless it traps. Machine mode changes nothing for S mode. */
static void count_off(struct hart *hart, bool retires) {
    const bool is_off = hart->mode == 3 ? hart->off : hart->mode == 1 && !hart->enabled;

    if (!is_off) end_off(hart);
    hart->off = is_off ? hart->off + retires : 0;
    hart->all += retires;
}

static void close_last(unsigned vcpu) {
    static const char *const names[8] = {"U", "S", "?", "M", "VU", "VS", "?", "?"};
    struct hart *hart = &harts[vcpu];

    if (!hart->open) return;
    hart->open = false;
    if (off && !vcpu) count_off(hart, true);
    if (!(modes >> (hart->mode & 7) & 1) || hart->elsewhere || waits || over) return;
    hart->hash = pc_hash(hart->hash, hart->pc * 8 + hart->mode);
    if (++hart->count % STEP == 0) fprintf(out, "%u %" PRIu64 " %" PRIx64 "\n", vcpu, hart->count, hart->hash);
    if (hart->version && !vcpu) hart->version->count++;
    if (times && !vcpu) fprintf(times, "%" PRIu64 "\n", hart->now);
    if (list && vcpu == listed) fprintf(list, "0x%" PRIx64 " %s\n", hart->pc, names[hart->mode & 7]);
}

static void take_line(unsigned vcpu, const char *line) {
    unsigned hart, interrupt;
    uint64_t cause, epc;

    if (sscanf(line, "riscv_cpu_do_interrupt: hart:%u, async:%u, cause:%" SCNx64 ", epc:0x%" SCNx64, &hart, &interrupt,
               &cause, &epc) != 4 ||
        hart != vcpu)
        return;
    harts[vcpu].interrupted |= interrupt != 0;
    if (interrupt || harts[vcpu].pc != epc) return;
    if (off && !vcpu && harts[vcpu].open) count_off(&harts[vcpu], false);
    harts[vcpu].open = false;
}

/* New lines of the log. The other plugin has made the file larger: what is not written is 0. */
static void read_log(unsigned vcpu) {
    static _Thread_local char text[ROOM + 1];

    for (ssize_t n; (n = pread(log_file, text, ROOM, harts[vcpu].read)) > 0;) {
        text[n] = 0;
        char *at = text, *end;
        for (; (end = strchr(at, '\n')); at = end + 1) {
            *end = 0;
            take_line(vcpu, at);
        }
        harts[vcpu].read += at - text;
        if (harts[vcpu].read > newest) newest = harts[vcpu].read;
        if (at == text) return;
    }
}

/* The other plugin gives back what all harts that are awake have read. This hart has slept, so no line there concerns
 * it. */
static void skip_hole(struct hart *hart) {
    off_t data = lseek(log_file, hart->read, SEEK_DATA);
    char byte = 0;

    if (data <= hart->read) return;
    for (hart->read = data; byte != '\n' && pread(log_file, &byte, 1, hart->read) == 1; hart->read++) {
    }
}

static uint64_t read_value(const struct hart *hart, struct qemu_plugin_register *name) {
    uint64_t value = 0;

    g_byte_array_set_size(hart->bytes, 0);
    qemu_plugin_read_register(name, hart->bytes);
    memcpy(&value, hart->bytes->data, hart->bytes->length < sizeof value ? hart->bytes->length : sizeof value);
    return value;
}

static void at_block(unsigned vcpu, void *nothing) {
    struct hart *hart = &harts[vcpu];

    (void)nothing;
    char first = 0;
    if (pread(log_file, &first, 1, hart->read) == 1 && !first && hart->read < newest) {
        skip_hole(hart);
        first = 1;
    }
    if (first) read_log(vcpu);
    close_last(vcpu);
    hart->mode = read_value(hart, hart->priv) & 0xff;
    if (hart->interrupted && hart->mode == 1) end_off(hart); /* the interrupts of S mode were on */
    hart->interrupted = false;
    hart->block = read_value(hart, hart->address);
    if (times && hart->time) hart->now = read_value(hart, hart->time);
    hart->elsewhere = asid >= 0 && (long)(read_value(hart, hart->satp) >> 44 & 0xffff) != asid;
    if (off && hart->status) hart->enabled = read_value(hart, hart->status) >> 1 & 1;
}

static void at_instruction(unsigned vcpu, void *of) {
    const struct translated *instruction = of;

    close_last(vcpu);
    harts[vcpu].pc = harts[vcpu].block + instruction->offset;
    harts[vcpu].version = instruction->version;
    harts[vcpu].open = true;
    over |= until && !waits && harts[vcpu].pc == until;
    waits &= harts[vcpu].pc != from;
}

static struct version *version_of(const struct qemu_plugin_insn *instruction, uint64_t address) {
    uint32_t bytes = 0;

    if (!table || address < first_counted || address > last_counted) return NULL;
    qemu_plugin_insn_data(instruction, &bytes, sizeof bytes);
    size_t at = (address / 2 * 31 + bytes * 2654435761u) % VERSIONS;
    while (table[at].address && (table[at].address != address || table[at].bytes != bytes)) at = (at + 1) % VERSIONS;
    table[at].address = address;
    table[at].bytes = bytes;
    return &table[at];
}

static void write_versions(void) {
    for (size_t i = 0; i < VERSIONS; i++)
        if (table[i].count)
            fprintf(versions, "0x%" PRIx64 " 0x%" PRIx32 " %" PRIu64 "\n", table[i].address, table[i].bytes,
                    table[i].count);
    fclose(versions);
}

static QEMU_TB_CALLBACK(translate) {
    uintptr_t offset = 0;

    QEMU_IGNORE;
    qemu_plugin_register_vcpu_tb_exec_cb(tb, at_block, QEMU_READ_REGS, NULL);
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
        struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(tb, i);
        struct translated *kept = malloc(sizeof *kept);
        if (!kept) abort();
        *kept = (struct translated){offset, version_of(instruction, qemu_plugin_tb_vaddr(tb) + offset)};
        qemu_plugin_register_vcpu_insn_exec_cb(instruction, at_instruction, QEMU_NO_REGS, kept);
        offset += qemu_plugin_insn_size(instruction);
    }
}

static QEMU_VCPU_CALLBACK(start) {
    const qemu_registers *all = qemu_plugin_get_registers();

    QEMU_IGNORE;
    if (vcpu >= HARTS) abort();
    harts[vcpu].bytes = g_byte_array_new();
    for (unsigned i = 0; i < all->length; i++) {
        if (strcmp(all->data[i].name, "priv") == 0) harts[vcpu].priv = all->data[i].handle;
        if (strcmp(all->data[i].name, "time") == 0) harts[vcpu].time = all->data[i].handle;
        if (strcmp(all->data[i].name, "sstatus") == 0) harts[vcpu].status = all->data[i].handle;
        if (strcmp(all->data[i].name, "pc") == 0) harts[vcpu].address = all->data[i].handle;
        if (strcmp(all->data[i].name, "satp") == 0) harts[vcpu].satp = all->data[i].handle;
    }
}

static QEMU_EXIT_CALLBACK(finish) {
    QEMU_IGNORE;
    (void)nothing;
    for (unsigned i = 0; i < HARTS; i++) {
        close_last(i);
        if (harts[i].count) fprintf(out, "%u %" PRIu64 " %" PRIx64 "\n", i, harts[i].count, harts[i].hash);
    }
    fclose(out);
    if (list) fclose(list);
    if (off) fclose(off);
    if (times) fclose(times);
    if (versions) write_versions();
}

/* QEMU has opened its log, a file in memory, before. */
static bool open_log(void) {
    char name[64], target[64];

    for (int file = 3; file < 256 && log_file <= 0; file++) {
        snprintf(name, sizeof name, "/proc/self/fd/%d", file);
        ssize_t n = readlink(name, target, sizeof target - 1);
        if (n > 0) target[n] = 0;
        if (n > 0 && strstr(target, "memfd:ntrace-log")) log_file = open(name, O_RDONLY);
    }
    return log_file > 0;
}

int qemu_plugin_install(qemu_id id, const qemu_info *info, int argc, char **argv) {
    (void)info;
    for (int i = 0; i < argc; i++) {
        if (strncmp(argv[i], "out=", 4) == 0) out = fopen(argv[i] + 4, "w");
        if (strncmp(argv[i], "list=", 5) == 0) list = fopen(argv[i] + 5, "w");
        if (strncmp(argv[i], "hart=", 5) == 0) listed = (unsigned)strtoul(argv[i] + 5, NULL, 0);
        if (strncmp(argv[i], "off=", 4) == 0) off = fopen(argv[i] + 4, "w");
        if (strncmp(argv[i], "times=", 6) == 0) times = fopen(argv[i] + 6, "w");
        if (strncmp(argv[i], "modes=", 6) == 0) modes = strtoul(argv[i] + 6, NULL, 0);
        if (strncmp(argv[i], "asid=", 5) == 0) asid = strtol(argv[i] + 5, NULL, 0);
        if (strncmp(argv[i], "versions=", 9) == 0) versions = fopen(argv[i] + 9, "w");
        if (strncmp(argv[i], "first=", 6) == 0) first_counted = strtoull(argv[i] + 6, NULL, 0);
        if (strncmp(argv[i], "last=", 5) == 0) last_counted = strtoull(argv[i] + 5, NULL, 0);
        if (strncmp(argv[i], "from=", 5) == 0) from = strtoull(argv[i] + 5, NULL, 0);
        if (strncmp(argv[i], "until=", 6) == 0) until = strtoull(argv[i] + 6, NULL, 0);
    }
    waits = from;
    if (versions) table = calloc(VERSIONS, sizeof *table);
    if (!out || !open_log()) return -1;
    qemu_plugin_register_vcpu_init_cb(id, QEMU_WITH(start));
    qemu_plugin_register_vcpu_tb_trans_cb(id, QEMU_WITH(translate));
    qemu_plugin_register_atexit_cb(id, finish, NULL);
    return 0;
}
