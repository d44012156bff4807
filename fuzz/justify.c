/* Justifications: any file is refused with a message, or its entries are complete and are found again. */
#include "fuzz.h"

#include "io/input.h"
#include "io/justify.h"
#include "options/diagnostics.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Takes the place of cli/options/diagnostics.c, which writes to standard error. */
static bool reported;

int cli_fail(const char *format, ...) {
    reported = true;
    fuzz_must(format[0] != 0, "a message has a text");
    return CLI_FAILED;
}

/* Takes the place of cli/io/input.c, which is all of the ways to open a file. */
char *cli_input_limited(const char *path, enum cli_limit limit, size_t *size) {
    enum { JUSTIFIED_BYTES = 1 << 20 };
    FILE *file = fopen(path, "rb");
    char *text = file ? malloc(JUSTIFIED_BYTES + 1) : NULL;

    (void)limit;
    *size = text ? fread(text, 1, JUSTIFIED_BYTES, file) : 0;
    if (file) fclose(file);
    if (text)
        text[*size] = 0;
    else
        cli_fail("%s: cannot be read", path);
    return text;
}

size_t fuzz_stream_at(const uint8_t *data, size_t size) {
    (void)data, (void)size;
    return SIZE_MAX;
}

static void check_entry(struct cli_justify *justify, size_t index) {
    const struct cli_justification *entry = &justify->items[index];
    fuzz_must(entry->function && entry->text && entry->reason && entry->line, "an entry has three lines and a place");
    fuzz_must(cli_justify_find(justify, entry->function, entry->text, true) != NULL,
              "an entry is found by function and text");
    fuzz_must(entry->state == CLI_JUSTIFY_COVERED, "an entry of covered code is not needed");
    cli_justify_find(justify, entry->function, entry->text, false);
    fuzz_must(entry->state == CLI_JUSTIFY_USED, "an entry of code that is not covered is used");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct cli_justify justify;
    int fd;
    const char *path = fuzz_file((ntr_bytes){data, size}, &fd);
    reported = false;
    if (cli_justify_read(&justify, path) == CLI_OK) {
        for (size_t i = 0; i < justify.count && i < 64; i++)
            if (justify.items[i].state == CLI_JUSTIFY_STALE) check_entry(&justify, i);
    } else {
        fuzz_must(reported, "a refused file has a message");
    }
    cli_justify_release(&justify);
    close(fd);
    return 0;
}
