/* Justifications: any file is refused with a message, or its entries are complete and are found again. */
#include "fuzz.h"

#include <ntrace/justification.h>

#include <stdlib.h>
#include <string.h>

size_t fuzz_stream_at(const uint8_t *data, size_t size) {
    (void)data, (void)size;
    return SIZE_MAX;
}

static void check_entry(ntr_justifications *justify, const ntr_justification *entry) {
    fuzz_must(entry->function && entry->text && entry->reason && entry->line, "an entry has three lines and a place");
    fuzz_must(ntr_justifications_find(justify, entry->function, entry->text, true) != NULL,
              "an entry is found by function and text");
    fuzz_must(entry->state == NTR_JUSTIFICATION_COVERED, "an entry of covered code is not needed");
    ntr_justifications_find(justify, entry->function, entry->text, false);
    fuzz_must(entry->state == NTR_JUSTIFICATION_USED, "an entry of code that is not covered is used");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    ntr_justifications *justify;
    size_t count;
    if (!text || ntr_justifications_new(NULL, &justify) != NTR_OK) abort();
    if (size) memcpy(text, data, size);
    text[size] = 0;
    const ntr_status status = ntr_justifications_read(justify, text);
    fuzz_must((status == NTR_OK) == !*ntr_justifications_error(justify), "a refused text has a reason");
    const ntr_justification *entries = ntr_justifications_all(justify, &count);
    for (size_t i = 0; status == NTR_OK && i < count && i < 64; i++)
        if (entries[i].state == NTR_JUSTIFICATION_STALE) check_entry(justify, &entries[i]);
    ntr_justifications_free(justify);
    free(text);
    return 0;
}
