/* Compressed input: any .zst file is read in bounded memory, however much it says it holds. */
#include "fuzz.h"
#include "io/input.h"

#include <unistd.h>

size_t fuzz_stream_at(const uint8_t *data, size_t size) {
    (void)data, (void)size;
    return SIZE_MAX;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    int fd;
    struct cli_input input;
    ntr_bytes span;
    bool last = false;
    uint64_t total = 0;
    if (cli_input_open(&input, fuzz_file((ntr_bytes){data, size}, &fd)) == 0) {
        while (!last && total < 64u << 20 && cli_input_next(&input, &span, &last) == 0) {
            fuzz_must(span.size <= 1u << 20, "a span is small");
            total += span.size;
        }
        cli_input_close(&input);
    }
    close(fd);
    return 0;
}
