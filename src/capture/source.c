#include "capture/source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* A limit of file sizes (ulimit -f) applies to shared memory as well, although the memory is sparse. It is raised to
 * the hard limit for this call. */
static int resize(int file) {
    struct rlimit limit, lifted;
    bool limited = getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < sizeof(struct channel);

    lifted = (struct rlimit){limit.rlim_max, limit.rlim_max};
    if (limited) setrlimit(RLIMIT_FSIZE, &lifted);
    int failed = ftruncate(file, sizeof(struct channel));
    int why = errno;
    if (limited) setrlimit(RLIMIT_FSIZE, &limit);
    errno = why;
    return failed;
}

static ntr_status map_memory(struct ntr_capture_source *source, struct ntr_capture_reason *reason) {
    void *memory =
        mmap(NULL, sizeof(struct channel), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, source->file, 0);
    if (memory == MAP_FAILED) return ntr_capture_fail_errno(reason, "shared memory");
    source->channel = memory;
    return NTR_OK;
}

static ntr_status map(struct ntr_capture_source *source, struct ntr_capture_reason *reason) {
    if (resize(source->file))
        return ntr_capture_fail(reason, NTR_E_IO, "shared memory of %zu MiB, most of it never used: %s",
                                sizeof(struct channel) >> 20, strerror(errno));
    ntr_status status = map_memory(source, reason);
    if (status != NTR_OK) return status;
    source->channel->head = (struct channel_head){.magic = CHANNEL_MAGIC,
                                                  .size = sizeof(struct channel),
                                                  .reader = (uint32_t)getpid(),
                                                  .file = source->file,
                                                  .blocks = 1};
    return NTR_OK;
}

ntr_status ntr_capture_source_open(struct ntr_capture_source *source, struct ntr_capture_reason *reason) {
    *source = (struct ntr_capture_source){.file = memfd_create("ntrace", MFD_CLOEXEC)};
    if (source->file < 0) return ntr_capture_fail_errno(reason, "shared memory");
    ntr_status status = map(source, reason);
    if (status != NTR_OK) close(source->file);
    return status;
}

ntr_status ntr_capture_source_adopt(struct ntr_capture_source *source, const char *path,
                                    struct ntr_capture_reason *reason) {
    *source = (struct ntr_capture_source){.file = open(path, O_RDWR | O_CLOEXEC)};
    if (source->file < 0) return ntr_capture_fail_errno(reason, path);
    struct stat about;
    ntr_status status = fstat(source->file, &about) == 0 && about.st_size == (off_t)sizeof(struct channel)
                            ? map_memory(source, reason)
                            : ntr_capture_fail(reason, NTR_E_FORMAT, "%s: not the memory of a capture", path);
    if (status != NTR_OK) close(source->file);
    return status;
}

void ntr_capture_source_close(struct ntr_capture_source *source) {
    if (!source->channel) return;
    munmap(source->channel, sizeof(struct channel));
    close(source->file);
    source->channel = NULL;
}

uint32_t ntr_capture_source_lanes(const struct channel *channel) {
    uint32_t n = atomic_load(&channel->head.lanes);
    return n < CHANNEL_LANES ? n : CHANNEL_LANES;
}

/* ---- lanes --------------------------------------------------------------------------------------------------------
 */

/* The writer stores addresses of its own mapping. */
uint32_t *ntr_capture_lane_writer(struct channel *channel, uint32_t index) {
    uint32_t *at = atomic_load_explicit(&channel->lanes[index].at, memory_order_acquire);
    uint32_t *ring = channel->rings[index];

    if (!at) return NULL;
    uint64_t place = ((uintptr_t)at - channel->head.base - ((uintptr_t)ring - (uintptr_t)channel)) / sizeof *ring;
    return place <= CHANNEL_RING ? ring + place % CHANNEL_RING : NULL;
}

void ntr_capture_lane_begin(struct ntr_capture_lane *lane, struct channel *channel, uint32_t index) {
    lane->at = channel->rings[index];
}

static ptrdiff_t batch_of(const uint32_t *ring, const uint32_t *at) {
    return (at - ring) / CHANNEL_BATCH;
}

bool ntr_capture_lane_ready(const struct ntr_capture_lane *lane, struct channel *channel, uint32_t index, bool all,
                            uint32_t **end) {
    uint32_t *ring = channel->rings[index], *writer = ntr_capture_lane_writer(channel, index);

    if (!writer || lane->at == writer) return false;
    if (!all && lane->at < writer && batch_of(ring, lane->at) == batch_of(ring, writer)) return false;
    *end = all ? writer : ring + batch_of(ring, writer) * CHANNEL_BATCH;
    return lane->at != *end;
}

uint32_t *ntr_capture_lane_stop(const struct ntr_capture_lane *lane, struct channel *channel, uint32_t index,
                                uint32_t *end) {
    uint32_t *ring = channel->rings[index], *batch_end = ring + (batch_of(ring, lane->at) + 1) * CHANNEL_BATCH;
    return end > lane->at && end < batch_end ? end : batch_end;
}

void ntr_capture_lane_pass(struct ntr_capture_lane *lane, struct channel *channel, uint32_t index, uint32_t *stop) {
    uint32_t *ring = channel->rings[index];
    bool ends_batch = (stop - ring) % CHANNEL_BATCH == 0;

    lane->at = stop == ring + CHANNEL_RING ? ring : stop;
    if (ends_batch) atomic_store_explicit(&channel->lanes[index].consumed, ++lane->consumed, memory_order_release);
}

/* ---- loops --------------------------------------------------------------------------------------------------------
 */

uint32_t ntr_capture_source_running_loop(const struct channel *channel) {
    for (uint32_t i = 0; i < atomic_load(&channel->head.loops); i++)
        if (channel_pending(channel, &channel->blocks[channel->loops[i]])) return channel->loops[i];
    return 0;
}
