/* The harness without a fuzzer: reads the files named, and those in the folders named, one after the other. For
 * compilers without libFuzzer, and for coverage. */
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static size_t files;

static void replay_file(const char *path, size_t size) {
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = malloc(size ? size : 1); /* exact size: reads beyond the end are detected */
    if (!file || !bytes || fread(bytes, 1, size, file) != size) {
        fprintf(stderr, "%s: cannot be read\n", path);
        exit(1);
    }
    fclose(file);
    LLVMFuzzerTestOneInput(bytes, size);
    free(bytes);
    files++;
}

static void replay(const char *path) {
    struct stat about = {0};
    if (stat(path, &about)) {
        fprintf(stderr, "%s: is not there\n", path);
        exit(1);
    }
    DIR *folder = S_ISDIR(about.st_mode) ? opendir(path) : NULL;
    if (!folder) {
        replay_file(path, (size_t)about.st_size);
        return;
    }
    for (struct dirent *entry; (entry = readdir(folder));) {
        char inside[4096];
        if (entry->d_name[0] == '.') continue;
        snprintf(inside, sizeof inside, "%s/%s", path, entry->d_name);
        replay(inside);
    }
    closedir(folder);
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) replay(argv[i]);
    printf("%zu inputs\n", files);
    return 0;
}
