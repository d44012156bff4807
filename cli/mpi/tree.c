/* Partial answers are combined in a binary tree over the ranks. */
#include "mpi/job.h"

#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void send_file(const char *path, int to) {
    FILE *file = fopen(path, "rb");
    struct stat info = {0};
    char *bytes = job_get(SENT_AT_ONCE, 1);

    if (!file || fstat(fileno(file), &info) != 0) job_die("cannot read a partial answer");
    uint64_t size = (uint64_t)info.st_size;
    MPI_Send(&size, 1, MPI_UINT64_T, to, TAG_SIZE, MPI_COMM_WORLD);
    while (size) {
        const size_t got = fread(bytes, 1, size < SENT_AT_ONCE ? (size_t)size : SENT_AT_ONCE, file);
        if (!got) job_die("cannot read a partial answer");
        MPI_Send(bytes, (int)got, MPI_BYTE, to, TAG_BYTES, MPI_COMM_WORLD);
        size -= got;
    }
    fclose(file);
    free(bytes);
}

static char *receive_file(const struct job *j, int from) {
    char *path = job_file_name(j, "from", from), *bytes = job_get(SENT_AT_ONCE, 1);
    FILE *file = fopen(path, "wb");
    uint64_t size;

    MPI_Recv(&size, 1, MPI_UINT64_T, from, TAG_SIZE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    while (size) {
        MPI_Status status;
        int got;
        MPI_Recv(bytes, SENT_AT_ONCE, MPI_BYTE, from, TAG_BYTES, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_BYTE, &got);
        if (!file || fwrite(bytes, 1, (size_t)got, file) != (size_t)got) job_die("cannot write a partial answer");
        size -= (uint64_t)got;
    }
    if (!file || fclose(file) != 0) job_die("cannot write a partial answer");
    free(bytes);
    return path;
}

/* Begins the words of `ntrace combine --redo`, with room for `more` words. */
static char **redo_words(const struct job *j, int more, int *count) {
    char **words = job_get((size_t)more + 6, sizeof *words);

    words[(*count)++] = (char *)j->ntrace;
    words[(*count)++] = "combine";
    words[(*count)++] = "--redo";
    if (j->index) words[(*count)++] = "--index";
    if (j->index) words[(*count)++] = j->index;
    return words;
}

/* Combines the files of this rank into one. They may be all parts of the capture: one that began with a wrong guess is
 * decoded again. */
static void combine(struct job *j, int step) {
    int count = 0;

    if (!j->file_count) return;
    char **arguments = redo_words(j, j->file_count + 2, &count), *sum = job_file_name(j, "sum", step);
    arguments[count++] = "-o";
    arguments[count++] = sum;
    for (int i = 0; i < j->file_count; i++) arguments[count++] = j->files[i];
    if (job_run(j, arguments, NULL) != 0) job_die("partial answers cannot be combined");
    for (int i = 0; i < j->file_count; i++) {
        unlink(j->files[i]);
        free(j->files[i]);
    }
    j->files[0] = sum;
    j->file_count = 1;
    free(arguments);
}

/* `order`: the ranks that are alive, rank 0 first; this one is at `place`. In step 2^k, every second one of those that
 * are left sends its sum to the one before it. */
void job_reduce(struct job *j, const int *order, int count, int place) {
    for (int step = 1; step < count; step *= 2) {
        if (place % (2 * step)) {
            int files = j->file_count;
            combine(j, step);
            files = files ? 1 : 0;
            MPI_Send(&files, 1, MPI_INT, order[place - step], TAG_REDUCED, MPI_COMM_WORLD);
            if (files) send_file(j->files[0], order[place - step]);
            return;
        }
        if (place + step >= count) continue;
        int files;
        MPI_Recv(&files, 1, MPI_INT, order[place + step], TAG_REDUCED, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (files) j->files[j->file_count++] = receive_file(j, order[place + step]);
    }
}

/* Shows the answer: `ntrace combine --redo FILES COMMAND OPTIONS`, without TRACE. */
int job_show(struct job *j) {
    int count = 0;
    char **arguments = redo_words(j, j->file_count + j->word_count, &count);

    for (int i = 0; i < j->file_count; i++) arguments[count++] = j->files[i];
    for (int i = 0; i < j->word_count; i++)
        if (i != j->trace) arguments[count++] = j->words[i];
    const int status = job_run(j, arguments, NULL);
    free(arguments);
    return status;
}
