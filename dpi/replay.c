/* Reads recorded blocks of an ingress port for DPI-C. */
#include "common.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct replay {
    dpi_error error;
    FILE *file;
    ntr_ingress_reader reader;
};

void *ntr_dpi_replay_new(const char *path) {
    struct replay *replay = calloc(1, sizeof *replay);

    if (!replay) return NULL;
    ntr_ingress_reader_init(&replay->reader);
    replay->file = fopen(path, "r");
    if (!replay->file) dpi_fail(&replay->error, "%s: %s", path, strerror(errno));
    return replay;
}

void ntr_dpi_replay_free(void *handle) {
    struct replay *replay = handle;

    if (!replay) return;
    if (replay->file) fclose(replay->file);
    free(replay);
}

const char *ntr_dpi_replay_error(void *handle) {
    const struct replay *replay = handle;

    return replay ? replay->error.text : "out of memory";
}

static unsigned block_flags(const ntr_ingress *block) {
    return (block->sijump ? NTR_DPI_SIJUMP : 0u) | (block->halted ? NTR_DPI_HALTED : 0u) |
           (block->reset ? NTR_DPI_RESET : 0u) | (block->no_iaddr ? NTR_DPI_NO_IADDR : 0u) |
           (block->cycle ? 0u : NTR_DPI_SAME_CYCLE);
}

/* Reads the next block. Headers, comments and blank lines are skipped. */
static ntr_status next_block(struct replay *replay, ntr_ingress *block) {
    char line[2 * NTR_INGRESS_TEXT_MAX];
    ntr_status status = NTR_NEED_MORE;

    while (status == NTR_NEED_MORE) {
        if (!fgets(line, sizeof line, replay->file)) return ferror(replay->file) ? NTR_E_IO : NTR_END;
        status = ntr_ingress_read(&replay->reader, line, strcspn(line, "\r\n"), block);
    }
    return status;
}

int ntr_dpi_replay_next(void *handle, uint64_t *iaddr, unsigned *iretire, unsigned *ilastsize, unsigned *itype,
                        unsigned *priv, unsigned *flags, uint64_t *stamp) {
    struct replay *replay = handle;
    ntr_ingress block = {0};

    if (!replay || !replay->file) return NTR_E_STATE;
    ntr_status status = next_block(replay, &block);
    if (status < 0) {
        dpi_fail(&replay->error, "line %llu: %s", (unsigned long long)replay->reader.line,
                 replay->reader.error[0] ? replay->reader.error : ntr_status_text(status));
        return status;
    }
    *iaddr = block.iaddr;
    *iretire = block.iretire;
    *ilastsize = block.ilastsize;
    *itype = block.itype;
    *priv = block.priv;
    *flags = block_flags(&block);
    *stamp = block.time;
    return status == NTR_OK;
}
