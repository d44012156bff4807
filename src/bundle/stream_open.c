/* A stream reader of a bundle's stream file. */
#include "bundle/bundle.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

struct stream_file {
    ntr_allocator allocator_copy;
    const ntr_allocator *allocator; /* NULL: malloc */
    int fd;
    uint64_t size;
};

static ntr_status read_file(void *user, uint8_t *to, size_t room, size_t *got) {
    const struct stream_file *file = user;

    for (;;) {
        ssize_t n = read(file->fd, to, room);
        if (n < 0 && errno == EINTR) continue;
        *got = n < 0 ? 0 : (size_t)n;
        return n < 0 ? NTR_E_IO : NTR_OK;
    }
}

static bool seek_file(void *user, uint64_t offset) {
    const struct stream_file *file = user;

    return offset <= file->size && lseek(file->fd, (off_t)offset, SEEK_SET) >= 0;
}

static void close_file(void *user) {
    struct stream_file *file = user;
    ntr_allocator copy = file->allocator_copy;

    close(file->fd);
    ntr_dealloc(file->allocator ? &copy : NULL, file);
}

static ntr_status open_file(ntr_bundle *bundle, struct stream_file *file) {
    struct stat about = {0};

    if (bundle->allocator) {
        file->allocator_copy = *bundle->allocator;
        file->allocator = &file->allocator_copy;
    }
    file->fd = open(bundle->stream, O_RDONLY | O_CLOEXEC);
    if (file->fd < 0) return ntr_bundle_fail_errno(bundle, bundle->stream);
    if (fstat(file->fd, &about) == 0) file->size = (uint64_t)about.st_size;
    return NTR_OK;
}

static ntr_status make_reader(ntr_bundle *bundle, struct stream_file *file, ntr_stream_reader **reader) {
    ntr_stream_reader_config config;

    ntr_stream_reader_config_init(&config);
    config.read = read_file;
    config.seek = seek_file;
    config.close = close_file;
    config.user = file;
    config.allocator = bundle->allocator;
    config.limits = &bundle->limits;
    if (ntr_stream_reader_new(&config, reader) == NTR_OK) return NTR_OK;
    close(file->fd);
    return ntr_bundle_fail_memory(bundle);
}

/* Compression is detected at once, so that a build that cannot read it fails here. */
static ntr_status start(ntr_bundle *bundle, ntr_stream_reader **reader) {
    ntr_status status = ntr_stream_reader_start(*reader);

    if (status == NTR_OK) return status;
    ntr_bundle_fail(bundle, status, "%s: %s", bundle->stream, ntr_stream_reader_error(*reader));
    ntr_stream_reader_free(*reader);
    *reader = NULL;
    return status;
}

ntr_status ntr_bundle_stream_open(ntr_bundle *bundle, ntr_stream_reader **reader) {
    *reader = NULL;
    if (!bundle->stream) return ntr_bundle_fail(bundle, NTR_E_STATE, "no bundle is open");
    struct stream_file *file = ntr_alloc(bundle->allocator, 1, sizeof *file);
    if (!file) return ntr_bundle_fail_memory(bundle);
    ntr_status status = open_file(bundle, file);
    if (status == NTR_OK) status = make_reader(bundle, file, reader);
    if (status != NTR_OK) {
        ntr_dealloc(bundle->allocator, file);
        return status;
    }
    return start(bundle, reader);
}
