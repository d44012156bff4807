/* The index of the trace is made once, by rank 0, and not by each part. That of a bundle is stored in it; that of a raw
 * stream is sent to all ranks as the file of --index. */
#include "mpi/job.h"

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The first of so many parts is nearly empty: decoding it makes the index. */
enum { MANY_PARTS = 1 << 20 };

static bool is_given(const struct job *j) {
    for (int i = 1; i < j->word_count; i++)
        if (strncmp(j->words[i], "--index", 7) == 0) return true;
    return false;
}

static void make(struct job *j) {
    char *part = job_file_name(j, "none", 0);

    job_run_part(j, part, 1, MANY_PARTS, NULL);
    unlink(part);
    free(part);
}

/* Rank 0 sends its file, if it has one, to the others. */
static void share(struct job *j, bool has) {
    FILE *file = has ? fopen(j->index, j->rank ? "wb" : "rb") : NULL;
    char *bytes = job_get(SENT_AT_ONCE, 1);
    uint64_t count = SENT_AT_ONCE;

    if (has && !file) job_die("cannot open the index of the trace");
    while (has && count == SENT_AT_ONCE) {
        if (!j->rank) count = fread(bytes, 1, SENT_AT_ONCE, file);
        MPI_Bcast(&count, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
        MPI_Bcast(bytes, (int)count, MPI_BYTE, 0, MPI_COMM_WORLD);
        if (j->rank && fwrite(bytes, 1, (size_t)count, file) != (size_t)count)
            job_die("cannot write the index of the trace");
    }
    if (file && fclose(file) != 0) job_die("cannot write the index of the trace");
    free(bytes);
}

void job_make_index(struct job *j) {
    int has = 0;

    if (j->parts == 1) return;
    const bool sent = !is_given(j) && !job_is_bundle(j->words[j->trace]);
    if (sent) j->index = job_file_name(j, "index", 0);
    if (!j->rank) {
        make(j);
        has = sent && access(j->index, R_OK) == 0;
    }
    if (sent) MPI_Bcast(&has, 1, MPI_INT, 0, MPI_COMM_WORLD);
    share(j, has);
    if (has || !j->index) return;
    free(j->index);
    j->index = NULL;
}
