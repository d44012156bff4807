/* Code generated at run time and its names: jitdump (first byte even) and perf map files. */
#include "fuzz.h"

#include <ntrace/program_files.h>
#include <unistd.h>

size_t fuzz_stream_at(const uint8_t *data, size_t size) {
    (void)data, (void)size;
    return SIZE_MAX;
}

static uint64_t when(void *user, uint64_t time) {
    (void)user;
    return time / 3;
}

static void ask(const ntr_program *program, uint64_t address, uint64_t position) {
    uint8_t bytes[16];
    ntr_symbol symbol;
    ntr_program_read(program, ntr_place_at(NULL, position, address), bytes, sizeof bytes);
    ntr_program_symbol(program, ntr_place_at(NULL, NTR_POSITION_ANY, address), &symbol);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    int fd;
    fuzz_tape tape = {data, size, 0};
    uint8_t kind = fuzz_byte(&tape);
    ntr_image_options options = {.size = sizeof options, .bias = kind & 4 ? 0x10000 : 0};
    const char *path = fuzz_file(fuzz_rest(&tape), &fd);
    ntr_program *program;
    ntr_program_new(NULL, &program);
    ntr_image_info info;
    if (!program) return 0;
    if (kind & 1)
        ntr_program_add_perf_map(program, path, &options);
    else
        ntr_program_add_jitdump(program, path, &options, kind & 2 ? when : NULL, NULL);
    for (size_t i = 0; i < 64 && ntr_program_image(program, i, &info) == NTR_OK; i++) {
        ask(program, info.low, NTR_POSITION_ANY);
        ask(program, info.high - 1, info.options.from);
    }
    ntr_program_free(program);
    close(fd);
    return 0;
}
