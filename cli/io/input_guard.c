#include "io/input_guard.h"

#include <stdlib.h>
#include <sys/stat.h>

struct input_file {
    dev_t device;
    ino_t file;
};

static struct input_file *inputs;
static size_t count, capacity;

static bool identify(const char *path, struct input_file *input) {
    struct stat info = {0};

    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode)) return false;
    *input = (struct input_file){info.st_dev, info.st_ino};
    return true;
}

static bool contains(const struct input_file *input) {
    for (size_t i = 0; i < count; i++)
        if (inputs[i].file == input->file && inputs[i].device == input->device) return true;
    return false;
}

void cli_input_guard_add(const char *path) {
    struct input_file input;

    if (!identify(path, &input) || contains(&input)) return;
    if (count == capacity) {
        size_t larger = capacity ? 2 * capacity : 8;
        struct input_file *grown = realloc(inputs, larger * sizeof *grown);
        if (!grown) return; /* out of memory: opening the output fails, too */
        inputs = grown;
        capacity = larger;
    }
    inputs[count++] = input;
}

bool cli_input_guard_contains(const char *path) {
    struct input_file input;

    return count && identify(path, &input) && contains(&input);
}
