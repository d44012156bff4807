/* What other code comes from while a program runs: for rewritten.py. How often each function is called is in the source.
 *
 * usage: rewritten WAY ENTRY_1 ENTRY_2     the offsets of entry_1 in one.so and of entry_2 in two.so, hexadecimal */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SIZE = 16384 };
#define BASE ((char *)0x3000000000)
typedef int function(int);

static FILE *map;

static char *load(const char *path) {
    int file = open(path, O_RDONLY);
    char *at = mmap(BASE, SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, file, 0);
    close(file);
    return at;
}

static void call(void *at, int n) {
    __builtin___clear_cache(at, (char *)at + 512);
    while (n-- > 0) ((function *)at)(n);
}

/* extra + 3 instructions */
static void generate(void *to, void *executed, const char *name, int extra) {
    uint32_t *p = to;
    *p++ = 0x00000513;
    for (int i = 0; i < extra; i++) *p++ = 0x00150513;
    *p++ = 0x00250513;
    *p++ = 0x00008067;
    const long size = (char *)p - (char *)to;
    fprintf(map, "%lx %lx %s\n", (long)executed, size, name);
    fflush(map);
}

static const char *open_map(void) {
    static char path[64];
    sprintf(path, "/tmp/perf-%d.map", getpid());
    map = fopen(path, "w");
    puts(path);
    return path;
}

/* Code that the perf map does not name. */
static void generate_unnamed(void *to, int extra) {
    FILE *named = map;
    map = fopen("/dev/null", "w");
    generate(to, to, "", extra);
    fclose(map);
    map = named;
}

/* The perf map is written anew, by the same name, and then as a new file. It is there until it was read. The first map
 * names code that only exists when the second one does not name it. */
static void replaced_map(void) {
    const char *path = open_map();
    char *at = mmap(BASE, SIZE, 7, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    fprintf(map, "%lx 40 made_never\n", (long)at + 1024);
    generate(at, at, "made_first", 1);
    call(at, 3);
    usleep(100000);
    fclose(map);
    map = fopen(path, "w");
    generate(at, at, "made_second", 3);
    call(at, 4);
    generate_unnamed(at + 1024, 4);
    call(at + 1024, 2);
    usleep(100000);
    fclose(map);
    unlink(path);
    map = fopen(path, "w");
    generate(at + 256, at + 256, "made_third", 3);
    call(at + 256, 5);
    usleep(100000);
}

/* Code is written at one address and executed at another one, each time in other memory. */
static void two_addresses(void) {
    open_map();
    for (int i = 0; i < 2; i++) {
        int file = memfd_create("code", 0);
        ftruncate(file, SIZE);
        char *written = mmap(0, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        generate(written, BASE, i ? "made_second" : "made_first", i ? 3 : 1);
        call(mmap(BASE, SIZE, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_FIXED, file, 0), i ? 4 : 3);
    }
}

/* Code of another file is written over a file that is mapped, through /proc/self/mem. */
static void written_over(long entry_1, long entry_2) {
    char *at = load("one.so"), bytes[4096];
    call(at + entry_1, 2);
    int memory = open("/proc/self/mem", O_RDWR), file = open("two.so", O_RDONLY);
    if (read(file, bytes, sizeof bytes) < 512 || pwrite(memory, bytes, sizeof bytes, (long)at) != sizeof bytes) _exit(3);
    call(at + entry_2, 4);
}

/* A library is moved to where another one is, and that one is mapped where the first one was. */
static void moved(long entry_1, long entry_2) {
    char *at = load("one.so"), *to = mmap(at, SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    call(at + entry_1, 2);
    mremap(at, SIZE, SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, to);
    at = load("two.so");
    call(at + entry_2, 3);
    call(to + entry_1, 4);
    mremap(at, SIZE, SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, to);
    call(to + entry_2, 1);
}

int main(int argc, char **argv) {
    (void)argc;
    if (strcmp(argv[1], "map") == 0) replaced_map();
    if (strcmp(argv[1], "memfd") == 0) two_addresses();
    if (strcmp(argv[1], "memory") == 0) written_over(strtol(argv[2], 0, 16), strtol(argv[3], 0, 16));
    if (strcmp(argv[1], "moved") == 0) moved(strtol(argv[2], 0, 16), strtol(argv[3], 0, 16));
    return 0;
}
