/* Partial answers: any file is read, loaded and added in bounded memory; every refusal has a reason; what can be added
 * to nothing is a sum, which is the sum of itself. Checksums are set right before, so that the content is reached. */
#include "fuzz.h"

#include "partial/blocks.h"

#include <ntrace/partial.h>
#include <stdlib.h>
#include <string.h>

enum { MAGIC_SIZE = 9 };

size_t fuzz_stream_at(const uint8_t *data, size_t size) {
    (void)data, (void)size;
    return SIZE_MAX;
}

static void mend(uint8_t *bytes, size_t size) {
    for (size_t at = MAGIC_SIZE; at + NTR_BLOCK_HEAD_SIZE + NTR_BLOCK_SUM_SIZE <= size;) {
        const size_t length = (size_t)bytes[at + 1] | (size_t)bytes[at + 2] << 8;
        bytes[at + 3] = bytes[at + 4] = 0;
        if (length > size - at - NTR_BLOCK_HEAD_SIZE - NTR_BLOCK_SUM_SIZE) return;
        const uint64_t sum = ntr_partial_hash(0, bytes + at, NTR_BLOCK_HEAD_SIZE + length);
        for (unsigned i = 0; i < NTR_BLOCK_SUM_SIZE; i++)
            bytes[at + NTR_BLOCK_HEAD_SIZE + length + i] = (uint8_t)(sum >> 8 * i);
        at += NTR_BLOCK_HEAD_SIZE + length + NTR_BLOCK_SUM_SIZE;
    }
}

static ntr_status append(void *user, const void *bytes, size_t size) {
    fuzz_add(user, bytes, size);
    return NTR_OK;
}

static ntr_partial *open_bytes(ntr_bytes bytes, ntr_status *status) {
    ntr_partial *p;
    ntr_partial_new(NULL, &p);
    if (!p) abort();
    *status = ntr_partial_open_bytes(p, bytes, 0);
    fuzz_must(*status >= 0 || *ntr_partial_error(p), "a refusal has a reason");
    return p;
}

static void load(ntr_bytes bytes) {
    ntr_status status;
    ntr_partial *p = open_bytes(bytes, &status);
    ntr_analysis a;
    ntr_program *program;
    ntr_program_new(NULL, &program);
    ntr_debug_info *debug = NULL;
    if (program) ntr_debug_info_new(program, NULL, &debug);
    ntr_functions *functions = NULL;
    if (debug) ntr_functions_new(debug, NULL, &functions);
    ntr_analysis_init(&a);
    a.program = program;
    a.functions = functions;
    ntr_tally_new(NULL, NULL, &a.tally);
    if (functions) ntr_calltree_new(functions, NULL, &a.tree);
    if (!a.tree || !a.tally) abort();
    if (status == NTR_OK) status = ntr_partial_load(p, &a);
    fuzz_must(status >= 0 || *ntr_partial_error(p), "a refusal has a reason");
    ntr_calltree_free(a.tree);
    ntr_tally_free(a.tally);
    ntr_functions_free(functions);
    ntr_debug_info_free(debug);
    ntr_program_free(program);
    ntr_partial_free(p);
}

/* Writes the sum of the bytes alone. */
static ntr_status add(ntr_bytes bytes, fuzz_bytes *sum) {
    ntr_output output;
    ntr_status status;
    ntr_partial *p = open_bytes(bytes, &status);
    ntr_output_init(&output);
    output.write = append;
    output.user = sum;
    if (status == NTR_OK) {
        status = ntr_partial_add(&p, 1, &output);
        fuzz_must(status >= 0 || *ntr_partial_error(p), "a refusal has a reason");
    }
    ntr_partial_free(p);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_bytes sum = {0}, again = {0};
    uint8_t *bytes = malloc(size + 1);
    if (!bytes) abort();
    if (size) memcpy(bytes, data, size);
    mend(bytes, size);
    load((ntr_bytes){bytes, size});
    if (add((ntr_bytes){bytes, size}, &sum) == NTR_OK) {
        fuzz_must(add((ntr_bytes){sum.data, sum.size}, &again) == NTR_OK, "a sum can be added");
        load((ntr_bytes){sum.data, sum.size});
    }
    free(bytes);
    free(sum.data);
    free(again.data);
    return 0;
}
