/* Options --topology, --openocd, --gdb, --mem, --exec: trace hardware of a real or virtual board. */
#ifndef CLI_IO_TARGET_H
#define CLI_IO_TARGET_H

#include "options/options.h"

#include <ntrace/target.h>

struct cli_connection {
    const char *openocd, *gdb, *mem, *exec;
    int direct, any_version;
    int64_t timeout; /* milliseconds; 0: default */
};

extern const struct cli_option cli_connection_options[];

struct cli_target {
    ntr_bus bus;          /* read32 is NULL: not open */
    ntr_target *target;
    char *topology;       /* JSON text */
    size_t topology_size;
    const char *topology_name;
};

/* Opens the connection that the options give. Returns CLI_OK, or CLI_FAILED after reporting the error. */
int cli_connection_open(const struct cli_connection *connection, ntr_bus *bus);

/* Returns whether the options give a connection. */
bool cli_connection_given(const struct cli_connection *connection);

/* Reads the topology of a file. Returns CLI_OK, or CLI_FAILED after reporting the error. */
int cli_target_topology(struct cli_target *target, const char *path);

enum { CLI_HARTS_MAX = 4096 };

/* What of the topology is used: the encoders of these harts (none: of all) and what they lead to; and a TMC that stores
 * the trace instead of passing it on (NULL: none). */
struct cli_part {
    const struct cli_list *harts;
    const char *sink;
};

/* Makes the target, when bus and topology are there. `timeout_ms` 0: default. Notes are printed, and given to `note`
 * (may be NULL); `part` may be NULL. Returns CLI_OK, or CLI_FAILED after reporting the error. */
int cli_target_make(struct cli_target *target, const struct cli_connection *connection, const struct cli_part *part,
                    void (*note)(void *user, const char *sentence), void *user);

/* Reads a list of numbers of harts into `harts`, which has room for CLI_HARTS_MAX. Returns CLI_OK, or CLI_FAILED after
 * reporting the error. */
int cli_harts_parse(const struct cli_list *list, unsigned *harts);

/* Installs handlers for SIGINT, SIGTERM and SIGHUP that only make cli_progress_stopped return true: trace hardware must
 * be disabled before the process ends. Call it after inputs have been read: until then a signal ends the process. */
void cli_target_catch_stop(void);

void cli_target_close(struct cli_target *target);

#endif
