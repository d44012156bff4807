/* What every rank does: processes of ntrace, files, the end of the job. */
#include "mpi/job.h"

#include <mpi.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

void job_pause(long milliseconds) {
    const struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&time, NULL);
}

double job_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

int job_run(const struct job *j, char **arguments, void (*alive)(void)) {
    pid_t child;
    int status;

    if (posix_spawn(&child, j->ntrace, NULL, NULL, arguments, environ) != 0) return 127;
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (alive) alive();
        job_pause(5);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void job_die(const char *why) {
    fprintf(stderr, "ntrace-mpi: %s\n", why);
    MPI_Abort(MPI_COMM_WORLD, EXIT_USAGE);
    exit(EXIT_USAGE);
}

void *job_get(size_t count, size_t size) {
    void *block = calloc(count ? count : 1, size);

    if (!block) job_die("out of memory");
    return block;
}

bool job_is_bundle(const char *word) {
    char path[PATH_MAX + 16];

    snprintf(path, sizeof path, "%s/capture.json", word);
    return access(path, R_OK) == 0;
}

/* ---- decoding */

static void alive_for_root(void) {
    static double last;

    if (job_now() - last < 1) return;
    last = job_now();
    MPI_Send(NULL, 0, MPI_INT, 0, TAG_ALIVE, MPI_COMM_WORLD);
}

char *job_file_name(const struct job *j, const char *kind, int number) {
    char *name = job_get(PATH_MAX, 1);

    snprintf(name, PATH_MAX, "%s/%s-%d-%d.part", j->folder, kind, j->rank, number);
    return name;
}

int job_run_part(const struct job *j, char *file, int part, int parts, void (*alive)(void)) {
    char **arguments = job_get((size_t)j->word_count + 8, sizeof *arguments), shard[40];
    int count = 0;

    snprintf(shard, sizeof shard, "%d/%d", part, parts);
    arguments[count++] = (char *)j->ntrace;
    for (int i = 0; i < j->word_count; i++) arguments[count++] = j->words[i];
    arguments[count++] = "--partial";
    arguments[count++] = file;
    arguments[count++] = "--shard";
    arguments[count++] = shard;
    if (j->index) arguments[count++] = "--index";
    if (j->index) arguments[count++] = j->index;
    const int status = job_run(j, arguments, alive);
    free(arguments);
    return status;
}

bool job_decode(struct job *j, int part) {
    char *file = job_file_name(j, "part", part);
    const int status = job_run_part(j, file, part, j->parts, j->rank ? alive_for_root : NULL);
    const bool good = status < EXIT_USAGE && access(file, R_OK) == 0;

    if (good)
        j->files[j->file_count++] = file;
    else
        free(file);
    return good;
}
