/* Generates code again at one address, with names in a perf map, in a jitdump file (argument "d"), from one thread or for four
 * ("t"). jitted_N is called N + 1 times; two functions are the same bytes at one address, called once and twice; `moves` (jitdump) is
 * called once and, moved, three times; round_N is called once by each thread. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>
#include <unistd.h>
#include <time.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <pthread.h>
#include <fcntl.h>
#include <elf.h>
static FILE *map, *dump; static int with_dump; static uint64_t idx;
static uint64_t now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000ull + t.tv_nsec; }
struct hdr { uint32_t magic, version, total, elf, pad, pid; uint64_t ts, flags; };
struct load { uint32_t id, total; uint64_t ts; uint32_t pid, tid; uint64_t vma, addr, size, index; };
static void note(const char *name, void *p, size_t n) {
    if (!with_dump) { fprintf(map, "%lx %zx %s\n", (long)p, n, name); fflush(map); return; }
    struct load l = { 0, sizeof l + strlen(name) + 1 + n, now(), getpid(), syscall(SYS_gettid), (uint64_t)p, (uint64_t)p, n, idx++ };
    fwrite(&l, sizeof l, 1, dump); fwrite(name, strlen(name) + 1, 1, dump); fwrite(p, n, 1, dump); fflush(dump);
}
static void note_move(void *from, void *to, size_t n) {
    struct { uint32_t id, total; uint64_t ts; uint32_t pid, tid; uint64_t vma, old, new, size, index; } m = { 1, sizeof m, now(), getpid(), syscall(SYS_gettid), (uint64_t)to, (uint64_t)from, (uint64_t)to, n, idx - 1 };
    memcpy(to, from, n); __builtin___clear_cache(to, (char *)to + n); fwrite(&m, sizeof m, 1, dump); fflush(dump);
}
/* li a0,imm ; loop: addi a1,a1,-1 ; bnez a1,loop ; addi a0,a0,k ; ret */
static size_t emit(uint32_t *p, int imm, int k, int extra) {
    size_t n = 0; p[n++] = 0x00000513 | (imm & 0xfff) << 20;
    for (int i = 0; i < extra; i++) p[n++] = 0x00150513; /* addi a0,a0,1 */
    p[n++] = 0xfff58593; p[n++] = 0xfe059ee3; p[n++] = 0x00050513 | (k & 0xfff) << 20; p[n++] = 0x00008067;
    __builtin___clear_cache((char *)p, (char *)(p + n)); return n * 4;
}
typedef int (*fn)(int, int);
static pthread_barrier_t bar; static uint32_t *page;
static void *runner(void *a) { long s = 0; for (int r = 0; r < 20; r++) { pthread_barrier_wait(&bar); s += ((fn)page)(0, 5); pthread_barrier_wait(&bar); } return (void *)s; }
int main(int argc, char **argv) {
    with_dump = argc > 1 && strchr(argv[1], 'd'); int threads = argc > 1 && strchr(argv[1], 't');
    char name[64]; sprintf(name, with_dump ? "/tmp/jit-%d.dump" : "/tmp/perf-%d.map", getpid());
    if (with_dump) { int fd = open(name, O_CREAT | O_TRUNC | O_RDWR, 0644); mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0); dump = fdopen(fd, "w+"); struct hdr h = { 0x4A695444, 1, sizeof h, 243, 0, getpid(), now(), 0 }; fwrite(&h, sizeof h, 1, dump); fflush(dump); }
    else map = fopen(name, "w");
    page = mmap(0, 65536, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int s = 0;
    if (!threads) {
        for (int r = 0; r < 4; r++) { char f[32]; sprintf(f, "jitted_%d", r); size_t n = emit(page, r, r, r); note(f, page, n); for (int c = 0; c <= r; c++) s += ((fn)page)(0, 3); }
        /* moved: the same function emitted elsewhere, the old place reused */
        size_t n = emit(page + 1024, 9, 9, 2); note("moved_here", page + 1024, n); s += ((fn)(page + 1024))(0, 2);
        n = emit(page + 1024, 9, 9, 2); note("same_bytes_new_name", page + 1024, n); s += ((fn)(page + 1024))(0, 2); s += ((fn)(page + 1024))(0, 2);
        if (with_dump) { /* a record of a move, to the place of the first functions */
            n = emit(page + 2048, 7, 7, 1); note("moves", page + 2048, n); s += ((fn)(page + 2048))(0, 2);
            note_move(page + 2048, page, n); for (int c = 0; c < 3; c++) s += ((fn)page)(0, 2);
        }
    } else {
        pthread_t t[4]; pthread_barrier_init(&bar, 0, 5); for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, runner, 0);
        for (int r = 0; r < 20; r++) { char f[32]; sprintf(f, "round_%d", r); size_t n = emit(page, r, 1, r % 3); note(f, page, n); pthread_barrier_wait(&bar); pthread_barrier_wait(&bar); }
        for (int i = 0; i < 4; i++) { void *v; pthread_join(t[i], &v); s += (long)v; }
    }
    printf("%d\n", s); if (with_dump) fclose(dump); else fclose(map);
    return 0;
}
