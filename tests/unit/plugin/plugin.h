/* What the files of the plugin for whole machines need of QEMU and of each other, in a test. */
#ifndef NTR_TEST_PLUGIN_H
#define NTR_TEST_PLUGIN_H

#include "../test.h"

#include "machine/machine.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct channel *channel;
struct machine_hart *machine_few;
struct qemu_plugin_scoreboard *machine_harts;

/* The memory that is shared with the capture engine; pages that are not touched take no room. */
static int open_channel(void **state) {
    (void)state;
    channel = mmap(NULL, sizeof *channel, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (channel == MAP_FAILED) return -1;
    channel->head.xlen = 64;
    return 0;
}

static int close_channel(void **state) {
    (void)state;
    return munmap(channel, sizeof *channel);
}

#endif
