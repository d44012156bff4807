/* ntrace-mpi [--parts N] [--silent SECONDS] COMMAND [OPTION]... TRACE: one analysis command on the ranks of an MPI job.
 *
 * Rank 0 hands out parts of the trace. Each rank decodes its parts with `ntrace COMMAND --shard I/N`, a process of its
 * own, so that a part that ends a process costs only that part: it is given to another rank, three times at most. Ranks
 * send a sign of life every second; the parts of a rank that is silent are handed out again. Then the partial answers
 * are combined in a tree over the ranks, and rank 0 shows the answer as `ntrace COMMAND` would.
 *
 * Messages are a few numbers and, in the tree, the bytes of files: ranks need a common file system for the trace only.
 */
#include "mpi/job.h"

#include <libgen.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NUMBER_MAX = 1 << 20 };

/* Parses an option of ntrace-mpi with a number. */
static bool take_option(char **argv, const char *name, int *value) {
    char *end;

    if (strcmp(argv[0], name) != 0 || !argv[1]) return false;
    const long number = strtol(argv[1], &end, 10);
    if (*end || number < 1 || number > NUMBER_MAX) return false;
    *value = (int)number;
    return true;
}

/* Returns whether the word may be the trace: it exists, is no program, and no option before it names it as another
 * file. */
static bool may_be_trace(char **words, int at) {
    static const char *const others[] = {"-e", "--elf", "--raw", "-o", "--output", "--index", "--maps", "--justify"};
    char magic[4] = {0};
    struct stat about;
    FILE *file = stat(words[at], &about) == 0 && S_ISREG(about.st_mode) ? fopen(words[at], "re") : NULL;

    if (!file) return false;
    const bool elf = fread(magic, 1, sizeof magic, file) == sizeof magic && memcmp(magic, "\177ELF", sizeof magic) == 0;
    fclose(file);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strcmp(words[at - 1], others[i]) == 0) return false;
    return !elf;
}

static bool parse(struct job *j, int argc, char **argv) {
    int at = 1;

    j->parts = j->ranks > 1 ? 2 * (j->ranks - 1) : 1;
    j->silent = 60;
    while (at + 1 < argc &&
           (take_option(argv + at, "--parts", &j->parts) || take_option(argv + at, "--silent", &j->silent)))
        at += 2;
    j->words = argv + at;
    j->word_count = argc - at;
    if (j->word_count < 2 || j->words[0][0] == '-') return false;
    j->trace = j->word_count - 1;
    for (int i = 1; i < j->word_count; i++)
        if (may_be_trace(j->words, i)) j->trace = i;
    for (int i = 1; i < j->word_count; i++)
        if (job_is_bundle(j->words[i])) j->trace = i;
    return true;
}

/* The command is beside this program. */
static void find_ntrace(struct job *j) {
    char path[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);

    if (length <= 0) job_die("cannot find ntrace");
    path[length] = 0;
    snprintf(j->ntrace, sizeof j->ntrace, "%s/ntrace", dirname(path));
    if (access(j->ntrace, X_OK) != 0) job_die("expected ntrace beside ntrace-mpi");
}

static void make_folder(struct job *j) {
    const char *parent = getenv("TMPDIR");

    const int length =
        snprintf(j->folder, sizeof j->folder, "%s/ntrace-mpi.XXXXXX", parent && *parent ? parent : "/tmp");
    if (length < 0 || (size_t)length >= sizeof j->folder || !mkdtemp(j->folder))
        job_die("cannot create a folder in $TMPDIR");
    j->files = job_get((size_t)j->parts + (size_t)j->ranks + 1, sizeof *j->files);
}

static void remove_folder(struct job *j) {
    for (int i = 0; i < j->file_count; i++) {
        if (j->files[i]) unlink(j->files[i]);
        free(j->files[i]);
    }
    free(j->files);
    if (j->index) unlink(j->index);
    free(j->index);
    rmdir(j->folder);
}

static int run_root(struct job *j, int *order, int *dead) {
    int count = 0;
    const bool complete = job_distribute(j, order, &count, dead);

    job_reduce(j, order, count, 0);
    return complete ? job_show(j) : EXIT_MISSING;
}

static void run_worker(struct job *j, int *order) {
    int count, place = 0;

    job_work(j);
    MPI_Recv(&count, 1, MPI_INT, 0, TAG_WORK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(order, count, MPI_INT, 0, TAG_WORK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    while (order[place] != j->rank) place++;
    job_reduce(j, order, count, place);
}

/* Returns the number of tasks that srun has started without MPI between them, else 0. Each of them would decode the
 * whole trace. */
static long separate_tasks(const struct job *j) {
    const char *text = getenv("SLURM_STEP_NUM_TASKS");
    const long tasks = text ? strtol(text, NULL, 10) : 0;

    return j->ranks == 1 && tasks > 1 ? tasks : 0;
}

int main(int argc, char **argv) {
    struct job j = {0};
    int status = 0, dead = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* a message to a rank that is dead */
    MPI_Comm_rank(MPI_COMM_WORLD, &j.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &j.ranks);
    if (!parse(&j, argc, argv)) {
        if (!j.rank)
            fprintf(stderr, "ntrace-mpi: usage: ntrace-mpi [--parts N] [--silent SECONDS] COMMAND [OPTION]... TRACE\n");
        MPI_Finalize();
        return EXIT_USAGE;
    }
    if (separate_tasks(&j)) {
        fprintf(
            stderr,
            "ntrace-mpi: srun has started %ld tasks, and MPI connects none of them; with Open MPI give srun --mpi=pmix, with MPICH "
            "--mpi=pmi2\n",
            separate_tasks(&j));
        MPI_Finalize();
        return EXIT_USAGE;
    }
    find_ntrace(&j);
    make_folder(&j);
    job_make_index(&j);
    int *order = job_get((size_t)j.ranks, sizeof *order);
    if (j.rank)
        run_worker(&j, order);
    else
        status = run_root(&j, order, &dead);
    remove_folder(&j);
    free(order);
    if (dead) _exit(status); /* MPI_Finalize waits for all ranks */
    MPI_Finalize();
    return status;
}
