/* Partials inside of files, and their sums: what combine works on. */
#ifndef CLI_COMMANDS_SHARED_COMBINE_MEMBERS_H
#define CLI_COMMANDS_SHARED_COMBINE_MEMBERS_H

#include <ntrace/partial.h>

#include <limits.h>
#include <stdio.h>

/* A partial inside of a file. */
struct cli_member {
    char path[PATH_MAX];
    uint64_t offset;
    uint64_t id[2], begin, end; /* of its first capture; */
    uint32_t shard, shards;     /* ... 0: not a part */
    FILE *sum; /* a temporary file, whose path is that of its descriptor; else NULL */
};

struct cli_members {
    struct cli_member *items;
    size_t count, capacity;
};

/* Adds a member. Returns NULL when out of memory. */
struct cli_member *cli_members_add(struct cli_members *members, const char *path, uint64_t offset);

/* Adds the partials of a file. Returns CLI_OK, or CLI_FAILED after reporting the error. */
int cli_members_list(struct cli_members *members, const char *path);

/* An ntr_output.write to a FILE. */
ntr_status cli_members_write(void *user, const void *bytes, size_t size);

/* Writes the sum of the members. */
int cli_members_sum(const struct cli_member *members, size_t count, const ntr_output *output);

/* Adds up all members: one is left. */
int cli_members_add_up(struct cli_members *members);

/* Opens a temporary file, and stores the path of its descriptor. Returns NULL after reporting the error. */
FILE *cli_members_temporary(char path[PATH_MAX]);
void cli_members_close(struct cli_member *member);

#endif
