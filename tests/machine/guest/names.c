/* The first program of a Linux guest that executes code which is in no file of the kernel: a module, an eBPF program
 * that the kernel translates, the vDSO. Then it prints what the kernel says about their addresses.
 *
 * Tracing ends at `names_end`, when all has been executed and nothing is printed yet. */
#define _GNU_SOURCE /* O_DIRECT */
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { TIMES = 2000 };

static void write_text(const char *name, const char *text) {
    int file = open(name, O_WRONLY);
    if (file < 0 || write(file, text, strlen(text)) < 0) printf("%s: not written\n", name);
    if (file >= 0) close(file);
}

/* Reads and writes a RAM disk, which the module makes. */
static void use_module(void) {
    static char block[1 << 14] __attribute__((aligned(4096)));
    int module = open("/brd.ko", O_RDONLY);

    if (syscall(SYS_finit_module, module, "rd_nr=1 rd_size=1024", 0)) perror("finit_module");
    int disk = open("/dev/ram0", O_RDWR | O_DIRECT);
    for (int i = 0; i < 32; i++)
        if (pwrite(disk, block, sizeof block, 0) < 0 || pread(disk, block, sizeof block, 0) < 0) perror("/dev/ram0");
    close(disk);
    close(module);
}

/* A filter of a socket that takes all packets. */
static void use_bpf(void) {
    static const struct bpf_insn code[] = {
        {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = 1},
        {.code = BPF_ALU64 | BPF_LSH | BPF_K, .dst_reg = 0, .imm = 16},
        {.code = BPF_JMP | BPF_EXIT},
    };
    union bpf_attr attributes = {.prog_type = BPF_PROG_TYPE_SOCKET_FILTER,
                                 .insns = (uintptr_t)code,
                                 .insn_cnt = 3,
                                 .license = (uintptr_t)"GPL",
                                 .prog_name = "take_all"};
    int pair[2], program = (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attributes, sizeof attributes);
    char byte = 0;

    if (program < 0) perror("bpf");
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair)) perror("socketpair");
    if (setsockopt(pair[0], SOL_SOCKET, SO_ATTACH_BPF, &program, sizeof program)) perror("SO_ATTACH_BPF");
    for (int i = 0; i < TIMES; i++)
        if (write(pair[1], &byte, 1) != 1 || read(pair[0], &byte, 1) != 1) perror("socket");
}

static void use_vdso(void) {
    struct timespec now;
    for (int i = 0; i < TIMES; i++) clock_gettime(CLOCK_MONOTONIC, &now);
}

/* Prints the lines of a file that have `word` in them. */
static void print_lines(const char *name, const char *word) {
    static char line[4096];
    FILE *file = fopen(name, "r");

    while (file && fgets(line, sizeof line, file))
        if (strstr(line, word)) fputs(line, stdout);
    if (file) fclose(file);
}

__attribute__((noinline)) void names_end(void) {
    __asm__ volatile("nop" ::: "memory");
}

int main(void) {
    mount("proc", "/proc", "proc", 0, NULL);
    mount("dev", "/dev", "devtmpfs", 0, NULL);
    write_text("/proc/sys/kernel/kptr_restrict", "0");
    write_text("/proc/sys/net/core/bpf_jit_enable", "1");
    write_text("/proc/sys/net/core/bpf_jit_kallsyms", "1");
    use_module();
    use_bpf();
    use_vdso();
    names_end();
    print_lines("/proc/modules", "0x");
    print_lines("/proc/kallsyms", "[");
    print_lines("/proc/self/maps", "[vdso]");
    puts("end of names");
    fflush(stdout);
    reboot(RB_POWER_OFF);
    return 0;
}
