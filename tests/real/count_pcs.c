/* QEMU plugin for tests: counts and hashes the program counter of every instruction that retires, for each virtual CPU.
 *
 * It shares nothing with the capture plugin but the declarations of QEMU's interface: QEMU calls it before each single
 * instruction. Whether that instruction retired is known when the next one of the same CPU comes:
 *
 *   - ECALL, EBREAK, UNIMP and words of ones (with which a Java VM makes code invalid) never retire; jumps and branches
 * always do;
 *   - the next address follows: it retired;
 *   - the same address again: QEMU executes the instruction once more (atomics alone, stores to code), it had not
 * retired;
 *   - any other address is a signal handler. Signals from outside come between QEMU's blocks: an instruction inside of
 * a block was stopped by its own fault. The last one of a block, if it accesses memory, retired if the access was seen.
 *
 * What it sees is in a mapped file, FILE.PID, an array of struct seen: complete also when a signal kills the program. A
 * child process has a file of its own. A process that executes another program (execve) with this plugin continues its
 * file. Argument: out=FILE. Argument counts=FILE: when the program exits, "HOST - GUEST", the difference of addresses,
 * QEMU's /proc/self/maps, and how often each instruction retired, "0xADDRESS COUNT". One that was translated several
 * times has several lines. */
#include "plugins/qemu/api.h"
#include "tests/real/seen.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int qemu_plugin_version = NTRACE_QEMU_API;

typedef enum kind { LINEAR, ACCESS, JUMP, NEVER } kind;

struct instruction {
    uint64_t pc;
    _Atomic uint64_t retired; /* how often */
    struct instruction *before; /* the one that was translated before, or NULL */
    uint8_t size, kind;
    bool last; /* of its block */
};

static struct seen *all_seen;

static struct cpu {
    struct instruction *pending;
    bool accessed; /* `pending` has accessed memory */
} cpus[CPUS];

static const char *out, *counts;
static struct instruction *_Atomic newest;
static _Atomic uint64_t host_minus_guest;

static struct cpu *cpu_of(unsigned index) {
    if (index >= CPUS) abort();
    return &cpus[index];
}

/* In a child, at the address of its parent's file. */
static void map_file(void) {
    char path[4096];
    snprintf(path, sizeof path, "%s.%d", out, (int)getpid());
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0 || ftruncate(file, CPUS * sizeof *all_seen)) abort();
    all_seen = mmap(all_seen, CPUS * sizeof *all_seen, PROT_READ | PROT_WRITE, MAP_SHARED | (all_seen ? MAP_FIXED : 0),
                    file, 0);
    if (all_seen == MAP_FAILED) abort();
    close(file);
}

static void in_child(void) {
    map_file();
    memset(cpus, 0, sizeof cpus);
}

static bool retired(const struct cpu *c, const struct instruction *i, uint64_t next) {
    if (i->kind == NEVER) return false;
    if (i->kind == JUMP || next == i->pc + i->size) return true;
    if (next == i->pc || !i->last) return false;
    return i->kind != ACCESS || c->accessed;
}

static void on_instruction(unsigned index, void *user) {
    struct instruction *now = user;
    struct cpu *c = cpu_of(index);
    struct seen *seen = &all_seen[index];
    if (c->pending && retired(c, c->pending, now->pc)) {
        seen_retire(seen, c->pending->pc);
        c->pending->retired++;
    }
    c->pending = now;
    c->accessed = false;
    seen->executes = 1;
    seen->open = now->kind != NEVER;
}

static void on_access(unsigned index, qemu_access info, uint64_t address, void *user) {
    (void)info, (void)address, (void)user;
    cpu_of(index)->accessed = true;
}

/* ---- instructions */

static kind kind_of_short(uint32_t bits) {
    const unsigned quadrant = bits & 3, funct3 = bits >> 13 & 7;
    if (quadrant == 0) return bits == 0 ? NEVER : funct3 == 0 ? LINEAR : ACCESS;
    if (quadrant == 1) return funct3 >= 5 ? JUMP : LINEAR; /* c.j, c.beqz, c.bnez (RV64) */
    if (funct3 == 4) return bits == 0x9002 ? NEVER : (bits & 0x7c) == 0 && (bits & 0xf80) ? JUMP : LINEAR;
    return funct3 == 0 ? LINEAR : ACCESS;
}

static kind kind_of(uint32_t bits) {
    if ((bits & 3) != 3) return kind_of_short(bits & 0xffff);
    switch (bits & 0x7f) {
    case 0x63:
    case 0x67:
    case 0x6f: return JUMP;
    case 0x7f: return NEVER; /* the encodings of instructions of 80 bits and more: there are none */
    case 0x03:
    case 0x07:
    case 0x23:
    case 0x27: return ACCESS;
    case 0x73: return (bits & ~0x100000u) == 0x73 || bits == 0xc0001073 ? NEVER : LINEAR; /* the last: unimp */
    default: return LINEAR;
    }
}

static uint32_t word_of(const struct qemu_plugin_insn *one, size_t size) {
    uint32_t word = 0;
#if NTRACE_QEMU_API == 1
    memcpy(&word, qemu_plugin_insn_data(one), size < 4 ? size : 4);
#else
    qemu_plugin_insn_data(one, &word, size < 4 ? size : 4);
#endif
    return word;
}

static QEMU_TB_CALLBACK(on_block) {
    const size_t count = qemu_plugin_tb_n_insns(tb);
    uint64_t pc = qemu_plugin_tb_vaddr(tb);
    struct instruction *all = malloc(count * sizeof *all); /* kept: callbacks refer to it */
    QEMU_IGNORE;
    if (!all) abort();
    host_minus_guest = (uintptr_t)qemu_plugin_insn_haddr(qemu_plugin_tb_get_insn(tb, 0)) - pc;
    for (size_t i = 0; i < count; i++) {
        struct qemu_plugin_insn *one = qemu_plugin_tb_get_insn(tb, i);
        const size_t size = qemu_plugin_insn_size(one);
        all[i] = (struct instruction){.pc = pc, .size = (uint8_t)size, .kind = (uint8_t)kind_of(word_of(one, size))};
        all[i].last = i + 1 == count;
        all[i].before = newest;
        while (!atomic_compare_exchange_weak(&newest, &all[i].before, &all[i]));
        qemu_plugin_register_vcpu_insn_exec_cb(one, on_instruction, QEMU_NO_REGS, &all[i]);
        if (all[i].last && all[i].kind == ACCESS)
            qemu_plugin_register_vcpu_mem_cb(one, on_access, QEMU_NO_REGS, QEMU_MEM_RW, NULL);
        pc += size;
    }
}

static QEMU_EXIT_CALLBACK(at_exit) {
    QEMU_IGNORE, (void)nothing;
    FILE *file = counts ? fopen(counts, "w") : NULL;
    FILE *maps = file ? fopen("/proc/self/maps", "r") : NULL;
    if (!maps) return;
    fprintf(file, "%" PRIu64 "\n", host_minus_guest);
    for (int c; (c = getc(maps)) != EOF;) putc(c, file);
    fclose(maps);
    for (const struct instruction *i = newest; i; i = i->before)
        if (i->retired) fprintf(file, "0x%" PRIx64 " %" PRIu64 "\n", i->pc, i->retired);
    fclose(file);
}

int qemu_plugin_install(qemu_id id, const qemu_info *info, int argc, char **argv) {
    (void)info;
    for (int i = 0; i < argc; i++) {
        const char **value = strncmp(argv[i], "out=", 4) == 0      ? &out
                             : strncmp(argv[i], "counts=", 7) == 0 ? &counts
                                                                   : NULL;
        if (!value || !(*value = strdup(strchr(argv[i], '=') + 1))) return -1;
    }
    if (!out) return -1;
    map_file();
    qemu_plugin_register_atexit_cb(id, at_exit, NULL);
    qemu_plugin_register_vcpu_tb_trans_cb(id, QEMU_WITH(on_block));
    return pthread_atfork(NULL, NULL, in_child);
}
