/* A job of ntrace-mpi, as each rank has it. */
#ifndef CLI_MPI_JOB_H
#define CLI_MPI_JOB_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

enum { EXIT_MISSING = 1, EXIT_USAGE = 2 };
enum { TAG_READY = 1, TAG_ALIVE, TAG_WORK, TAG_SIZE, TAG_BYTES, TAG_REDUCED };
enum { NO_PART = 0 };
enum { SENT_AT_ONCE = 16 << 20 }; /* bytes of a file in one message */

/* What a rank tells rank 0: a part that is done or has failed (NO_PART: none yet). */
struct ready {
    int part, failed;
};

struct job {
    int rank, ranks;
    int parts;
    int silent; /* seconds after which a rank is taken for dead */
    char ntrace[PATH_MAX + 8], folder[PATH_MAX / 2];
    char **words; /* COMMAND and what follows */
    int word_count, trace; /* index of TRACE */
    char **files; /* partial answers of this rank */
    int file_count;
    char *index; /* of the trace, for --index; NULL: the trace or the user has one, or none can be made */
};

/* ---- job.c */

/* Ends the job. */
void job_die(const char *why);

/* Returns zeroed memory, or ends the job. */
void *job_get(size_t count, size_t size);

void job_pause(long milliseconds);
double job_now(void); /* seconds */

/* Returns the path of a file in the folder of the rank, to be freed. */
char *job_file_name(const struct job *job, const char *kind, int number);

/* Runs ntrace. `alive` is called while it runs. Returns its exit status, or 128 + signal. */
int job_run(const struct job *job, char **arguments, void (*alive)(void));

bool job_is_bundle(const char *word);

/* Decodes part `part` of `parts` into `file`. Returns as job_run. */
int job_run_part(const struct job *job, char *file, int part, int parts, void (*alive)(void));

/* Decodes a part of the job. Returns whether its answer is there. */
bool job_decode(struct job *job, int part);

/* ---- index.c */

/* Makes the index of the trace. All ranks call it. */
void job_make_index(struct job *job);

/* ---- schedule.c: rank 0 hands out the parts */

/* Hands out all parts. Returns whether all answers are there. `order`: receives the ranks that still run, *count of
 * them; each is sent its place in that order. *dead: the number of the others. */
bool job_distribute(struct job *job, int *order, int *count, int *dead);

/* Decodes parts until rank 0 has no more. */
void job_work(struct job *job);

/* ---- tree.c */

/* Combines the answers of all ranks into files of rank 0. `order`: the ranks that are alive, rank 0 first; this one is
 * at `place`. */
void job_reduce(struct job *job, const int *order, int count, int place);

/* Shows the answer on rank 0. Returns the exit status. */
int job_show(struct job *job);

#endif
