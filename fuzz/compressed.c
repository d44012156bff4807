/* Compressed streams: any bytes are read in bounded memory, whatever size a frame claims, and every failure has an
 * error message. Of a stream without damage, what is behind bytes that are skipped is the same as without skipping. */
#include "fuzz.h"

#include <ntrace/stream_reader.h>
#include <string.h>

#define STEP 61 /* bytes read at once: a prime number */

size_t fuzz_stream_at(const uint8_t *data, size_t size) {
    (void)data, (void)size;
    return SIZE_MAX;
}

static ntr_status read_tape(void *user, uint8_t *to, size_t capacity, size_t *got) {
    ntr_bytes part = fuzz_part(user, capacity < STEP ? capacity : STEP);
    if (part.size) memcpy(to, part.data, part.size);
    *got = part.size;
    return NTR_OK;
}

static bool seek_tape(void *user, uint64_t offset) {
    fuzz_tape *tape = user;
    if (offset > tape->size) return false;
    tape->at = (size_t)offset;
    return true;
}

/* What was read. */
struct fuzz_content {
    uint64_t total, sum; /* sum: of the bytes from a place on, with the weight of their places */
    bool compressed;
};

/* Reads all behind `skipped` bytes. */
static ntr_status read_stream(const uint8_t *data, size_t size, uint64_t skipped, uint64_t place,
                              struct fuzz_content *content) {
    fuzz_tape tape = {data, size, 0};
    ntr_stream_reader_config config;
    ntr_stream_reader_config_init(&config);
    config.read = read_tape;
    config.seek = seek_tape;
    config.user = &tape;
    ntr_stream_reader *reader;
    ntr_stream_reader_new(&config, &reader);
    if (!reader) return NTR_E_MEMORY;
    ntr_bytes piece;
    bool last = false;
    ntr_status status = NTR_OK;
    ntr_stream_reader_skip(reader, skipped);
    *content = (struct fuzz_content){0};
    while (!last && content->total < 64u << 20) {
        status = ntr_stream_reader_next(reader, &piece, &last);
        fuzz_must(piece.size <= 1u << 20, "a piece is small");
        fuzz_must(status == NTR_OK || (last && !piece.size), "an error ends the stream");
        fuzz_must((status == NTR_OK) == !*ntr_stream_reader_error(reader), "an error has a sentence, success has none");
        for (size_t i = 0; i < piece.size; i++) {
            const uint64_t at = skipped + content->total + i;
            content->sum += at < place ? 0 : (at + 1) * piece.data[i];
        }
        content->total += piece.size;
    }
    content->compressed = ntr_stream_reader_is_compressed(reader);
    ntr_stream_reader_free(reader);
    return last ? status : NTR_END;
}

static void check_skipping(const uint8_t *data, size_t size, uint64_t skipped) {
    struct fuzz_content all, behind;
    fuzz_must(read_stream(data, size, 0, skipped, &all) == NTR_OK, "a stream can be read again");
    fuzz_must(read_stream(data, size, skipped, skipped, &behind) == NTR_OK, "what can be read can be skipped");
    fuzz_must(behind.total == all.total - skipped, "as many bytes are skipped as are wanted");
    fuzz_must(behind.sum == all.sum, "the bytes behind are the same");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fuzz_content all;
    const ntr_status status = read_stream(data, size, 0, 0, &all);
    if (status == NTR_E_MEMORY) return 0;
    if (!all.compressed && status != NTR_END) fuzz_must(all.total == size, "plain bytes pass unchanged");
    if (status != NTR_OK || all.total < 2) return 0;
    check_skipping(data, size, 1 + (size * 2654435761u) % (all.total - 1));
    check_skipping(data, size, all.total - 1);
    return 0;
}
