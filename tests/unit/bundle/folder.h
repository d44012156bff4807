/* A folder for the files of a test. */
#ifndef NTR_TEST_FOLDER_H
#define NTR_TEST_FOLDER_H

#include "../test.h"

#include <stdio.h>
#include <stdlib.h>

static char folder[64];

/* Set up and tear down of a group of tests: a new folder below the current one. */
static inline int make_place(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "bundle.XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

/* A path in the folder; the last four results stay. */
static inline const char *place(const char *name) {
    static char path[4][256];
    static unsigned turn;
    char *text = path[turn++ % 4];
    snprintf(text, sizeof path[0], "%s/%s", folder, name);
    return text;
}

static inline int remove_place(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static inline void put(const char *path, const void *data, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    fclose(file);
}

#endif
