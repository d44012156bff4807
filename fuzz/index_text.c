/* The file of an index: any text is read in bounded memory; what is accepted is an index that can be searched and
 * that is written and read again unchanged. */
#include "fuzz.h"

#include "bundle/index_text.h"

#include <stdlib.h>
#include <string.h>

static const struct ntr_indexed stream = {.size = 99, .params = 0x7f, .samples = 0x5};

size_t fuzz_stream_at(const uint8_t *data, size_t size) {
    (void)data, (void)size;
    return SIZE_MAX;
}

static void check(ntr_index *index, ntr_index *copy) {
    const ntr_point *points;
    size_t count, length;
    char *text, *again;
    if (ntr_index_text_write(index, &stream, NULL, &text, &length) != NTR_OK) return;
    ntr_status status = ntr_index_text_read((ntr_bytes){(const uint8_t *)text, length}, &stream, copy);
    fuzz_must(status == NTR_OK, "what was written can be read");
    if (ntr_index_text_write(copy, &stream, NULL, &again, &length) == NTR_OK) {
        fuzz_must(memcmp(text, again, length) == 0, "the text is the same");
        free(again);
    }
    for (unsigned unit = 0; unit < 3; unit++) {
        status = ntr_index_find(index, (ntr_unit)unit, 50, NULL, &points, &count);
        fuzz_must(status == NTR_END || (status == NTR_OK && count > 0 && count <= 16),
                  "at most one point for each source");
    }
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    ntr_params params;
    ntr_params_init(&params, NULL);
    params.src_bits = 4;
    ntr_index *index, *copy;
    ntr_index_new(&params, 0, NULL, &index);
    ntr_index_new(&params, 0, NULL, &copy);
    if (index && copy && ntr_index_text_read((ntr_bytes){data, size}, &stream, index) == NTR_OK) check(index, copy);
    ntr_index_free(index);
    ntr_index_free(copy);
    return 0;
}
