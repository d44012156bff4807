/* Performs a script of seeded.py: libraries that are loaded and unloaded at the same addresses, code that is generated, patched and
 * freed, on several threads, and execve. It writes what it calls, in order, as the truth: "THREAD NAME" for each call.
 *
 * usage: actor STEPS TRUTH NAMES   NAMES: m (perf map), d (jitdump), n (none)
 *
 * steps: l T SLOT FILE OFFSET NAME     map a library at the address of a slot
 *        o T NUMBER FILE SYMBOL        dlopen; the address is what the loader chooses
 *        k T NUMBER                    dlclose
 *        g T SLOT NAME AT EXTRA K      generate a function in a slot: K is its result, EXTRA its length
 *        p T SLOT K                    patch its result
 *        u T SLOT                      unmap the slot
 *        c T SLOT N                    call what is in the slot N times (NUMBER of a library of the loader: 8 and more)
 *        a SLOT N                      all threads call it N times, at once
 *        w T N                         call a function of this program
 *        x T FILE STEPS [NAMES]        execve */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 3, SLOTS = 16, SLOT_BYTES = 65536, FIRST_OF_LOADER = 8, LOG_BYTES = 1 << 20, WORDS = 8 };
#define SLOT_ADDRESS(k) ((char *)0x3000000000 + (k)*SLOT_BYTES)
#define NAMED2(a, b) a##b
#define NAMED(a, b) NAMED2(a, b)

typedef int function(int, int);

static struct slot {
    function *entry;
    void *library;
    uint32_t *code;
    int result_at;
    char name[32];
} slots[SLOTS];
static char steps[1 << 16], *next_step, log_text[LOG_BYTES];
static size_t log_size;
static const char *steps_file, *truth_file, *naming;
static FILE *names;
static pthread_barrier_t before, after;
static const char *words[WORDS]; /* of the step that is performed. Not by sscanf(), which would be half of the trace */

#ifdef SPACE /* puts the functions of two programs to different addresses */
int NAMED(space_, PROGRAM)(int n) { return n * n * 7 + n / 3 + n % 5; }
#endif
__attribute__((noinline)) int NAMED(inner_, PROGRAM)(int n) { volatile int s = n; return s + 1; }
__attribute__((noinline)) int NAMED(own_, PROGRAM)(int n) {
    int s = 0;
    while (n-- > 0) s += NAMED(inner_, PROGRAM)(n);
    return s;
}

static void write_all(const char *path, const char *text, size_t size) {
    int file = open(path, O_CREAT | O_WRONLY | O_APPEND, 0644);
    if (file < 0 || write(file, text, size) != (ssize_t)size) _exit(9);
    close(file);
}

/* Generated code is called by names that are told only. */
static void note_calls(int thread, const char *name, int n) {
    if (*naming == 'n' && strncmp(name, "made_", 5) == 0) return;
    size_t length = strlen(name);
    while (n-- > 0) {
        char *to = log_text + log_size;
        to[0] = '0' + thread, to[1] = ' ', to[length + 2] = '\n';
        memcpy(to + 2, name, length);
        log_size += length + 3;
    }
}

static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void begin_names(void) {
    char path[64];
    if (*naming == 'm') {
        sprintf(path, "/tmp/perf-%d.map", getpid());
        names = fopen(path, "w");
    } else if (*naming == 'd') {
        uint64_t header[5] = {1ull << 32 | 0x4A695444, 243ull << 32 | 40, (uint64_t)getpid() << 32, now(), 0};
        sprintf(path, "/tmp/jit-%d.dump", getpid());
        int file = open(path, O_CREAT | O_TRUNC | O_RDWR, 0644);
        mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
        names = fdopen(file, "w+");
        fwrite(header, sizeof header, 1, names);
        fflush(names);
    }
}

static void name_code(const char *name, const void *at, size_t size) {
    static uint64_t number;
    if (*naming == 'm') {
        fprintf(names, "%lx %zx %s\n", (long)at, size, name);
    } else if (*naming == 'd') {
        uint32_t ids[2] = {getpid(), (uint32_t)syscall(SYS_gettid)}, head[2] = {0, 56 + strlen(name) + 1 + size};
        uint64_t time = now(), place[4] = {(uint64_t)at, (uint64_t)at, size, number++};
        fwrite(head, sizeof head, 1, names);
        fwrite(&time, sizeof time, 1, names);
        fwrite(ids, sizeof ids, 1, names);
        fwrite(place, sizeof place, 1, names);
        fwrite(name, strlen(name) + 1, 1, names);
        fwrite(at, size, 1, names);
    }
    if (names) fflush(names);
}

/* addi a0, zero, 0; EXTRA times addi a0, a0, 1; a loop of A1 passes; addi a0, a0, K; ret */
static void generate(struct slot *s, char *base, const char *name, int at, int extra, int k) {
    uint32_t *p = s->code = (uint32_t *)(base + at);
    mmap(base, SLOT_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    *p++ = 0x00000513;
    while (extra-- > 0) *p++ = 0x00150513;
    *p++ = 0xfff58593;
    *p++ = 0xfe059ee3;
    s->result_at = p - s->code;
    *p++ = 0x00050513 | (k & 0x7ff) << 20;
    *p++ = 0x00008067;
    __builtin___clear_cache((char *)s->code, (char *)p);
    s->entry = (function *)s->code;
    strcpy(s->name, name);
    name_code(name, s->code, (char *)p - (char *)s->code);
}

static void patch(struct slot *s, int k) {
    s->code[s->result_at] = 0x00050513 | (k & 0x7ff) << 20;
    __builtin___clear_cache((char *)s->code, (char *)(s->code + s->result_at + 1));
}

static void load(struct slot *s, char *base, const char *path, long offset, const char *name) {
    int file = open(path, O_RDONLY);
    mmap(base, SLOT_BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, file, 0);
    close(file);
    s->entry = (function *)(base + offset);
    strcpy(s->name, name);
}

static void execute(const char *path, const char *script) {
    char *arguments[] = {(char *)path, (char *)script, (char *)truth_file, (char *)naming, NULL};
    write_all(truth_file, log_text, log_size);
    execv(path, arguments);
    _exit(8);
}

static long number(int word, int base) {
    long value = 0;
    for (const char *p = words[word]; *p; p++) value = value * base + (*p <= '9' ? *p - '0' : *p - 'a' + 10);
    return value;
}

/* A step for this thread. */
static void perform(int thread) {
    char kind = words[0][0];
    if (kind == 'a') {
        struct slot *of_all = &slots[number(1, 10)];
        int times = number(2, 10);
        for (int i = 0; i < times; i++) of_all->entry(i, 3);
        if (thread == 0)
            for (int t = 0; t < THREADS; t++) note_calls(t, of_all->name, times);
        return;
    }
    if (number(1, 10) != thread) return;
    int k = kind == 'x' ? 0 : number(2, 10);
    struct slot *s = &slots[k < SLOTS ? k : 0];
    char *base = SLOT_ADDRESS(k);
    if (kind == 'l') {
        load(s, base, words[3], number(4, 16), words[5]);
    } else if (kind == 'o') {
#ifdef DYNAMIC
        s->library = dlopen(words[3], RTLD_NOW);
        if (!s->library) _exit(7);
        s->entry = (function *)dlsym(s->library, words[4]);
        strcpy(s->name, words[4]);
    } else if (kind == 'k') {
        dlclose(s->library);
#endif
    } else if (kind == 'g') {
        generate(s, base, words[3], number(4, 10), number(5, 10), number(6, 10));
    } else if (kind == 'p') {
        patch(s, number(3, 10));
    } else if (kind == 'u') {
        munmap(base, SLOT_BYTES);
    } else if (kind == 'c') {
        int times = number(3, 10);
        for (int i = 0; i < times; i++) s->entry(i, 2);
        note_calls(thread, s->name, times);
    } else if (kind == 'w') {
        NAMED(own_, PROGRAM)(k);
        note_calls(thread, NAME_OF_OWN, 1);
        note_calls(thread, NAME_OF_INNER, k);
    } else if (kind == 'x') {
        if (*words[4]) naming = words[4];
        execute(words[2], words[3]);
    }
}

static int take_step(void) {
    for (int i = 0; i < WORDS; i++) words[i] = "";
    for (int i = 0; i < WORDS && *next_step; i++) {
        words[i] = next_step;
        while (*next_step != ' ' && *next_step != '\n') next_step++;
        char end = *next_step;
        *next_step++ = 0;
        if (end == '\n') break;
    }
    return *words[0];
}

static void *work(void *argument) {
    while (pthread_barrier_wait(&before), *words[0]) {
        perform((int)(intptr_t)argument);
        pthread_barrier_wait(&after);
    }
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[THREADS];
    if (argc < 4) return 2;
    steps_file = argv[1], truth_file = argv[2], naming = argv[3];
    int file = open(steps_file, O_RDONLY);
    if (file < 0 || read(file, steps, sizeof steps - 1) <= 0) return 2;
    close(file);
    next_step = steps;
    begin_names();
    pthread_barrier_init(&before, NULL, THREADS);
    pthread_barrier_init(&after, NULL, THREADS);
    for (int i = 1; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i);
    while (take_step()) {
        pthread_barrier_wait(&before);
        perform(0);
        pthread_barrier_wait(&after);
    }
    pthread_barrier_wait(&before);
    for (int i = 1; i < THREADS; i++) pthread_join(threads[i], NULL);
    write_all(truth_file, log_text, log_size);
    return 0;
}
