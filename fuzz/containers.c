/* Containers: any file is recognized or not, and its stream does not depend on how the file is cut into spans. */
#include "fuzz.h"

#include <ntrace/container.h>
#include <stdlib.h>
#include <string.h>

size_t fuzz_stream_at(const uint8_t *data, size_t size) {
    (void)data, (void)size;
    return SIZE_MAX;
}

static size_t pass(const ntr_container *found, ntr_bytes file, size_t piece, uint8_t *out) {
    ntr_container c = *found;
    size_t size = 0;
    for (size_t at = 0; at < file.size; at += piece) {
        size_t here = piece < file.size - at ? piece : file.size - at;
        size_t got = ntr_container_read(&c, (ntr_bytes){file.data + at, here}, out + size);
        fuzz_must(got <= here + NTR_CONTAINER_MORE, "no more bytes than there is room for");
        size += got;
    }
    return size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    ntr_container c;
    ntr_bytes file = {data, size};
    ntr_bytes beginning = {data, size < NTR_CONTAINER_HEADER_MAX ? size : NTR_CONTAINER_HEADER_MAX};
    if (ntr_container_find(beginning, &c) != NTR_OK) return 0;
    fuzz_must(ntr_params_check(&c.params) == NTR_OK, "parameters are within their limits");
    uint8_t *whole = malloc(size + NTR_CONTAINER_MORE), *cut = malloc(size + NTR_CONTAINER_MORE);
    if (!whole || !cut) abort();
    size_t all = pass(&c, file, size + 1, whole);
    fuzz_must(pass(&c, file, 7, cut) == all && memcmp(whole, cut, all) == 0, "cuts change nothing");
    free(whole);
    free(cut);
    return 0;
}
