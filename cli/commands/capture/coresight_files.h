/* The kernel's files of CoreSight devices (/sys/bus/coresight/devices, /dev/tmc_etrN), on the target itself.
 *
 * What a capture changes is written down before, and written back by a process of its own: it does so when it is asked
 * to, and also when the capture has died. */
#ifndef CLI_COMMANDS_CAPTURE_CORESIGHT_FILES_H
#define CLI_COMMANDS_CAPTURE_CORESIGHT_FILES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { LINUX_ENCODERS = 256, LINUX_SINKS = 16, LINUX_NAME = 64, LINUX_SAVED = 2 * LINUX_ENCODERS };

struct linux_encoder {
    char name[LINUX_NAME]; /* "encoder5" */
    unsigned cpu;
    bool enabled, online, chosen;
};

struct linux_sink {
    char name[LINUX_NAME]; /* "tmc_etr0" */
    bool enabled;
};

struct linux_saved {
    char path[PATH_MAX];
    char text[32];
};

struct linux_devices {
    const char *root; /* in front of all paths; "": the system's own */
    struct linux_encoder encoders[LINUX_ENCODERS];
    size_t encoder_count;
    struct linux_sink sinks[LINUX_SINKS];
    size_t sink_count;
    struct linux_saved saved[LINUX_SAVED]; /* in the order in which they are written back */
    size_t saved_count;
    int keeper;       /* pipe to the process that writes back; -1: there is none */
    pid_t keeper_pid;
};

/* Finds encoders and sinks. Returns CLI_OK, or CLI_FAILED after reporting the error. */
int linux_devices_find(struct linux_devices *devices, const char *root);

/* Reads a number or the first line of a file of a device. Returns false if it cannot be read. */
bool linux_read_text(const struct linux_devices *devices, const char *device, const char *file, char *text,
                     size_t size);
bool linux_read_number(const struct linux_devices *devices, const char *device, const char *file, uint64_t *value);

/* Remembers the text of a file, to be written back. Must come before linux_keep. Errors are reported. */
int linux_save(struct linux_devices *devices, const char *device, const char *file);

/* Starts the process that writes back. */
int linux_keep(struct linux_devices *devices);

/* Writes back and ends that process. Reports files that cannot be written. */
int linux_restore(struct linux_devices *devices);

/* Writes a file of a device. Returns 0, or errno. */
int linux_write(const struct linux_devices *devices, const char *device, const char *file, const char *text);

/* Reports why a device cannot be enabled, with what to do next. Returns CLI_FAILED. */
int linux_explain(const struct linux_devices *devices, const char *device, const char *file, const char *text, int why);

/* Reads a whole file whose size is not known. Returns NULL after reporting the error; the caller frees it. */
uint8_t *linux_read_file(const char *root, const char *path, size_t *size);

#endif
