/* Code made at run time, and its name: in a perf map, or in a jitdump file.
 * usage: named map | link | foreign | dump FOLDER      link: the map is a link; foreign: it is another user's */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static const uint32_t code[] = {0x00150513, 0x00008067}; /* addi a0, a0, 1; ret */

static void write_map(const void *at, const char *how) {
    char path[64], target[64];
    const int is_link = strcmp(how, "link") == 0;
    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
    snprintf(target, sizeof target, "/tmp/perf-%d.names", (int)getpid());
    FILE *file = fopen(is_link ? target : path, "w");
    fprintf(file, "%lx %zx made_at_run_time\n", (unsigned long)(uintptr_t)at, sizeof code);
    fclose(file);
    if (is_link && symlink(target, path)) _exit(3);
    if (strcmp(how, "foreign") == 0 && chown(path, 12345, 12345)) _exit(3);
}

static void write_dump(const void *at, const char *folder) {
    static const char name[] = "dumped_at_run_time";
    struct timespec now;
    char path[512];

    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t time = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    const struct {
        uint32_t magic, version, size, machine, pad, pid;
        uint64_t time, flags;
    } head = {0x4A695444, 1, sizeof head, 243, 0, (uint32_t)getpid(), time, 0};
    const struct {
        uint32_t id, size;
        uint64_t time;
        uint32_t pid, tid;
        uint64_t vma, address, length, index;
    } load = {0, sizeof load + sizeof name + sizeof code, time, (uint32_t)getpid(), (uint32_t)getpid(),
              (uintptr_t)at, (uintptr_t)at, sizeof code, 0};
    snprintf(path, sizeof path, "%s/jit-%d.dump", folder, (int)getpid());
    FILE *file = fopen(path, "w+");
    fwrite(&head, sizeof head, 1, file);
    fwrite(&load, sizeof load, 1, file);
    fwrite(name, sizeof name, 1, file);
    fwrite(code, sizeof code, 1, file);
    fflush(file);
    mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(file), 0); /* so that it is found */
    fclose(file);
}

int main(int argc, char **argv) {
    char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    long sum = 0;

    memcpy(page, code, sizeof code);
    __builtin___clear_cache(page, page + sizeof code);
    if (argc > 2)
        write_dump(page, argv[2]);
    else
        write_map(page, argc > 1 ? argv[1] : "map");
    for (int i = 0; i < 1000; i++) sum = ((long (*)(long))(void *)page)(sum);
    printf("%d\n", (int)getpid());
    return sum != 1000;
}
