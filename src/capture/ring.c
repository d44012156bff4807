#include "capture/ring.h"
#include "bundle/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SEGMENT_PARTS = 8 }; /* of the limit: the size of a segment */

static void segment_path(char out[PATH_MAX], const char *path, unsigned number) {
    snprintf(out, PATH_MAX, "%s.%u", path, number);
}

static struct ntr_capture_segment *segment(struct ntr_capture_ring *ring, unsigned number) {
    return &ring->segments[number % NTR_CAPTURE_SEGMENTS];
}

uint64_t ntr_capture_ring_end(const struct ntr_capture_ring *ring, const struct ntr_bundle_writer *stream) {
    return ring->limit && !stream->compressor ? ring->begin + ring->limit / SEGMENT_PARTS : UINT64_MAX;
}

bool ntr_capture_ring_is_full(const struct ntr_capture_ring *ring, const struct ntr_bundle_writer *stream) {
    if (!ring->limit || stream->offset == ring->begin) return false;
    off_t size = lseek(stream->fd, 0, SEEK_CUR);
    size_t waiting = stream->compressor ? 0 : stream->used;
    return size >= 0 && (uint64_t)size + waiting >= ring->limit / SEGMENT_PARTS;
}

/* Remove the oldest segments until the others and `more` bytes are within the limit. */
static void make_room(struct ntr_capture_ring *ring, const char *path, uint64_t more) {
    char name[PATH_MAX];
    uint64_t size = more;

    for (unsigned i = 0; i < ring->count; i++) size += segment(ring, ring->first + i)->size;
    while (ring->count && (size > ring->limit || ring->count == NTR_CAPTURE_SEGMENTS)) {
        segment_path(name, path, ring->first);
        unlink(name);
        size -= segment(ring, ring->first)->size;
        ring->dropped += segment(ring, ring->first)->stream;
        ring->first++;
        ring->count--;
    }
}

ntr_status ntr_capture_ring_cut(struct ntr_capture_ring *ring, struct ntr_bundle_writer *stream, const char *path,
                                bool compress, const ntr_allocator *allocator, struct ntr_capture_reason *reason) {
    char name[PATH_MAX];
    struct stat about;

    ntr_status status = ntr_bundle_writer_close(stream);
    ntr_bundle_writer_release(stream, allocator);
    if (status != NTR_OK || stat(path, &about)) return ntr_capture_fail_errno(reason, path);
    make_room(ring, path, (uint64_t)about.st_size + ring->limit / SEGMENT_PARTS);
    segment_path(name, path, ring->first + ring->count);
    if (rename(path, name)) return ntr_capture_fail_errno(reason, path);
    *segment(ring, ring->first + ring->count++) =
        (struct ntr_capture_segment){(uint64_t)about.st_size, stream->offset - ring->begin};
    ring->begin = stream->offset;
    status = ntr_bundle_writer_open(stream, path, compress, allocator);
    return status == NTR_OK ? status : ntr_capture_fail(reason, status, "%s: %s", path, ntr_status_text(status));
}

static bool append(int to, const char *path) {
    char buffer[1 << 16];
    ssize_t n = -1;
    int from = open(path, O_RDONLY | O_CLOEXEC);

    while (from >= 0 && (n = read(from, buffer, sizeof buffer)) > 0 && ntr_write_all(to, buffer, (size_t)n)) continue;
    if (from >= 0) close(from);
    return n == 0;
}

/* All segments and the present one. */
static bool append_all(const struct ntr_capture_ring *ring, int to, const char *path) {
    char name[PATH_MAX];
    bool good = true;

    for (unsigned i = 0; good && i < ring->count; i++) {
        segment_path(name, path, ring->first + i);
        good = append(to, name);
    }
    return good && append(to, path);
}

static void copy_path(char out[PATH_MAX], const char *path, unsigned number) {
    snprintf(out, PATH_MAX, "%s.copy-%u", path, number);
}

bool ntr_capture_ring_copy(struct ntr_capture_ring *ring, const char *path, char copy[PATH_MAX]) {
    copy_path(copy, path, ring->copies + 1);
    unlink(copy); /* of a copy that failed */
    int file = open(copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    bool good = file >= 0 && append_all(ring, file, path);

    if (file >= 0 && close(file)) good = false;
    if (good)
        ring->copies++;
    else
        unlink(copy);
    return good;
}

void ntr_capture_ring_drop_copy(const struct ntr_capture_ring *ring, const char *path, bool before) {
    char copy[PATH_MAX];

    if (ring->copies <= before) return;
    copy_path(copy, path, ring->copies - before);
    unlink(copy);
}

/* Appends a file to another, which is as before if that fails. */
static bool append_whole(int to, const char *path) {
    const off_t size = lseek(to, 0, SEEK_END);
    if (size >= 0 && append(to, path)) return true;
    const int cause = errno;
    if (size >= 0 && ftruncate(to, size) == 0) errno = cause;
    return false;
}

/* The oldest segment takes the others, each of which is removed when it is complete there: a disk that is nearly full
 * has space for that, and what cannot be joined is kept. */
ntr_status ntr_capture_ring_join(struct ntr_capture_ring *ring, const char *path, struct ntr_capture_reason *reason) {
    char first[PATH_MAX], name[PATH_MAX];
    struct stat about;

    if (!ring->limit || stat(path, &about)) return NTR_OK;
    ntr_capture_ring_drop_copy(ring, path, false);
    make_room(ring, path, (uint64_t)about.st_size);
    if (!ring->count) return NTR_OK;
    segment_path(first, path, ring->first);
    int file = open(first, O_WRONLY | O_CLOEXEC);
    bool good = file >= 0;
    for (unsigned i = 1; good && i < ring->count; i++) {
        segment_path(name, path, ring->first + i);
        good = append_whole(file, name);
        if (good) unlink(name);
    }
    good = good && append_whole(file, path);
    if (file >= 0 && close(file)) good = false;
    if (good && rename(first, path) == 0) return NTR_OK;
    return ntr_capture_fail(
        reason, NTR_E_IO,
        "%s: its parts cannot be joined: %s; they are kept: %s, then those with higher numbers, then %s", path,
        strerror(errno), first, path);
}
