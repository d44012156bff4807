/* `ntrace capture --linux`: what its files share. */
#ifndef CLI_COMMANDS_CAPTURE_LINUX_H
#define CLI_COMMANDS_CAPTURE_LINUX_H

#include "commands/capture/run.h"
#include "commands/capture/coresight_files.h"
#include "commands/capture/traced_process.h"

enum { LINUX_MAPS = 512, LINUX_VDSO = 1 << 16 };

/* /proc/PID/maps of a process, and its [vdso], as they were. */
struct linux_maps {
    pid_t pid;
    const char *root; /* in front of the paths */
    char *text;
    uint64_t vdso;
    uint8_t *vdso_bytes;
    size_t vdso_size;
};

struct linux_run {
    const struct capture_options *options;
    struct linux_devices devices;
    struct traced_process process;
    struct capture_losses losses;
    const char *sink;
    char *const *command; /* NULL: no program */
    uint64_t run_ms;
    uint8_t *frames;
    size_t frames_size;
    struct linux_maps maps[LINUX_MAPS];
    size_t map_count;
};

/* linux_maps.c. Keeps a line about what is missing, and reports it. */

/* Remembers the mappings of a process, unless it is known. */
void linux_keep_maps(struct linux_run *run, pid_t pid);

/* Copies the next word of a line, cut to `size`. Returns what follows it; at the end of the line, the word is empty. */
const char *linux_word(const char *at, char *word, size_t size);

/* One line of /proc/PID/maps. `path` is in the line, after it; it may contain blanks. */
struct linux_mapping {
    uint64_t start, end, offset;
    bool runs; /* it may be executed */
    const char *path;
};

/* Returns false if the line has another form. */
bool linux_mapping_of(const char *line, struct linux_mapping *mapping);

/* linux_bundle.c: writes the bundle of the frames. Returns CLI_OK, CLI_DEFECTS or CLI_FAILED. */
int linux_write_bundle(struct linux_run *run);

/* Writes back, stops, frees. */
int capture_linux(const struct capture_options *options, char **operands);

#endif
