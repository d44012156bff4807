/* Bundles: any capture.json beside a stream and images. A bundle that opens can be loaded and opens no file outside. */
#include "fuzz.h"

#include <fcntl.h>
#include <ntrace/bundle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

size_t fuzz_stream_at(const uint8_t *data, size_t size) {
    (void)data, (void)size;
    return SIZE_MAX;
}

static char folder[64];

static void put(const char *name, const void *bytes, size_t size) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, bytes, size) != (ssize_t)size || close(fd)) abort();
}

static void drop_folder(void) {
    static const char *const names[] = {"capture.json", "trace.nex", "images/code", "images/way", "images", ""};
    char path[128];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        remove(path);
    }
}

static void make_folder(void) {
    char path[128];
    if (folder[0]) return;
    snprintf(folder, sizeof folder, "%s/ntrace-fuzz.XXXXXX", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    if (!mkdtemp(folder)) abort();
    atexit(drop_folder);
    snprintf(path, sizeof path, "%s/images", folder);
    mkdir(path, 0700);
    put("trace.nex", "\xff\xff", 2);
    put("images/code", "\x13\0\0\0\x82\x80", 6);
    snprintf(path, sizeof path, "%s/images/way", folder);
    if (symlink("/etc/hostname", path)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    make_folder();
    put("capture.json", data ? (const void *)data : "", size);
    ntr_bundle *bundle;
    ntr_bundle_new(NULL, &bundle);
    ntr_program *program;
    ntr_program_new(NULL, &program);
    if (bundle && program && ntr_bundle_open(bundle, folder) == NTR_OK) {
        const char *stream = ntr_bundle_stream_path(bundle);
        fuzz_must(strncmp(stream, folder, strlen(folder)) == 0 && !strstr(stream, "/../"), "the stream is inside");
        ntr_bundle_load(bundle, program);
        ntr_image_info info;
        for (size_t i = 0; ntr_program_image(program, i, &info) == NTR_OK; i++)
            fuzz_must(!info.path || !strstr(info.path, "way"), "no symbolic link leads outside");
        fuzz_must(ntr_params_check(&ntr_bundle_capture(bundle)->params) == NTR_OK, "parameters of a bundle are valid");
    } else if (bundle) {
        fuzz_must(ntr_bundle_error(bundle)[0] != 0, "a refused bundle has an error message");
    }
    ntr_bundle_free(bundle);
    ntr_program_free(program);
    return 0;
}
