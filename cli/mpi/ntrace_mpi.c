/* ntrace-mpi [--parts N] [--silent SECONDS] COMMAND [OPTION]... TRACE: one analysis command on the ranks of an MPI job.
 *
 * Rank 0 hands out parts of the trace. Each rank decodes its parts with `ntrace COMMAND --shard I/N`, a process of its own, so that a
 * part that ends a process costs only that part: it is given to another rank, three times at most. Ranks send a sign of life every
 * second; the parts of a rank that is silent are handed out again. Then the partial answers are combined in a tree over the ranks, and
 * rank 0 shows the answer as `ntrace COMMAND` would.
 *
 * Messages are a few numbers and, in the tree, the bytes of files: ranks need a common file system for the trace only. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <mpi.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { EXIT_MISSING = 1, EXIT_USAGE = 2 };
enum { TAG_READY = 1, TAG_ALIVE, TAG_WORK, TAG_SIZE, TAG_BYTES, TAG_REDUCED };
enum { ATTEMPTS = 3, SENT_AT_ONCE = 16 << 20, NUMBER_MAX = 1 << 20 };
enum { NO_PART = 0 };

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
};

/* ---- processes */

static void pause_for(long milliseconds) {
    const struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&time, NULL);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Runs ntrace. `alive` is called while it runs. Returns its exit status, or 128 + signal. */
static int run(const struct job *j, char **arguments, void (*alive)(void)) {
    pid_t child;
    int status;

    if (posix_spawn(&child, j->ntrace, NULL, NULL, arguments, environ) != 0) return 127;
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (alive) alive();
        pause_for(5);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void alive_for_root(void) {
    static double last;

    if (now() - last < 1) return;
    last = now();
    MPI_Send(NULL, 0, MPI_INT, 0, TAG_ALIVE, MPI_COMM_WORLD);
}

static void die(const char *why) {
    fprintf(stderr, "ntrace-mpi: %s\n", why);
    MPI_Abort(MPI_COMM_WORLD, EXIT_USAGE);
    exit(EXIT_USAGE);
}

static void *get(size_t count, size_t size) {
    void *block = calloc(count ? count : 1, size);

    if (!block) die("out of memory");
    return block;
}

/* ---- decoding */

static char *file_name(const struct job *j, const char *kind, int number) {
    char *name = get(PATH_MAX, 1);

    snprintf(name, PATH_MAX, "%s/%s-%d-%d.part", j->folder, kind, j->rank, number);
    return name;
}

/* Decodes a part. Returns whether its answer is there. */
static bool decode(struct job *j, int part) {
    char **arguments = get((size_t)j->word_count + 6, sizeof *arguments), shard[40];
    char *file = file_name(j, "part", part);
    int count = 0;

    snprintf(shard, sizeof shard, "%d/%d", part, j->parts);
    arguments[count++] = j->ntrace;
    for (int i = 0; i < j->word_count; i++) arguments[count++] = j->words[i];
    arguments[count++] = "--partial";
    arguments[count++] = file;
    arguments[count++] = "--shard";
    arguments[count++] = shard;
    const int status = run(j, arguments, j->rank ? alive_for_root : NULL);
    free(arguments);
    const bool good = status < EXIT_USAGE && access(file, R_OK) == 0;
    if (good) j->files[j->file_count++] = file;
    else free(file);
    return good;
}

static void work(struct job *j) {
    struct ready ready = {NO_PART, 0};

    for (;;) {
        int part;
        MPI_Send(&ready, 2, MPI_INT, 0, TAG_READY, MPI_COMM_WORLD);
        MPI_Recv(&part, 1, MPI_INT, 0, TAG_WORK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (part == NO_PART) return;
        ready = (struct ready){part, !decode(j, part)};
    }
}

/* ---- rank 0 */

struct rank_state {
    double seen;   /* when it was heard of last */
    bool dead, waits;
    int part;      /* that it decodes */
};

struct part_state {
    int attempts, owner; /* owner: the rank that has its answer; -1: none */
    bool running;
};

struct schedule {
    struct job *job;
    struct rank_state *ranks;
    struct part_state *parts; /* from 1 */
    int done, lost;
};

static int next_part(const struct schedule *s) {
    for (int i = 1; i <= s->job->parts; i++)
        if (s->parts[i].owner < 0 && !s->parts[i].running && s->parts[i].attempts < ATTEMPTS) return i;
    return NO_PART;
}

static bool is_open(const struct schedule *s) {
    return s->done + s->lost < s->job->parts;
}

/* Returns whether a rank that is alive has not reported yet. */
static bool any_busy(const struct schedule *s) {
    for (int rank = 1; rank < s->job->ranks; rank++)
        if (!s->ranks[rank].dead && !s->ranks[rank].waits) return true;
    return false;
}

static void take_result(struct schedule *s, int rank, int part, bool failed) {
    struct part_state *p = &s->parts[part];

    p->running = false;
    if (!failed) {
        p->owner = rank;
        s->done++;
        return;
    }
    fprintf(stderr, "ntrace-mpi: rank %d: part %d of %d failed%s\n", rank, part, s->job->parts,
            p->attempts < ATTEMPTS ? "; it is decoded again" : "");
    s->lost += p->attempts >= ATTEMPTS;
}

static void take_message(struct schedule *s) {
    MPI_Status status;
    struct ready ready;
    int there;

    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status);
    if (!there) return;
    struct rank_state *r = &s->ranks[status.MPI_SOURCE];
    r->seen = now();
    if (status.MPI_TAG == TAG_ALIVE) {
        MPI_Recv(NULL, 0, MPI_INT, status.MPI_SOURCE, TAG_ALIVE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return;
    }
    MPI_Recv(&ready, 2, MPI_INT, status.MPI_SOURCE, TAG_READY, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (r->dead) return; /* its parts are another rank's */
    if (ready.part != NO_PART) take_result(s, status.MPI_SOURCE, ready.part, ready.failed != 0);
    r->waits = true;
    r->part = NO_PART;
}

/* The parts of a silent rank are handed out again. */
static void bury(struct schedule *s, int rank) {
    s->ranks[rank].dead = true;
    fprintf(stderr, "ntrace-mpi: rank %d is silent; its parts are decoded again\n", rank);
    for (int i = 1; i <= s->job->parts; i++) {
        if (s->parts[i].owner == rank) {
            s->parts[i].owner = -1;
            s->done--;
        }
    }
    if (s->ranks[rank].part != NO_PART) s->parts[s->ranks[rank].part].running = false;
}

static void hand_out(struct schedule *s) {
    for (int rank = 1; rank < s->job->ranks; rank++) {
        struct rank_state *r = &s->ranks[rank];
        if (!r->dead && !r->waits && now() - r->seen > s->job->silent) bury(s, rank);
        const int part = r->dead || !r->waits ? NO_PART : next_part(s);
        if (part == NO_PART) continue;
        s->parts[part].running = true;
        s->parts[part].attempts++;
        r->part = part;
        r->waits = false;
        r->seen = now();
        MPI_Send(&part, 1, MPI_INT, rank, TAG_WORK, MPI_COMM_WORLD);
    }
}

/* Rank 0 decodes, too, when it is alone or every other rank is dead. */
static void work_alone(struct schedule *s) {
    const int part = next_part(s);

    for (int rank = 1; rank < s->job->ranks; rank++)
        if (!s->ranks[rank].dead) return;
    if (part == NO_PART) return;
    s->parts[part].attempts++;
    take_result(s, 0, part, !decode(s->job, part));
}

static volatile sig_atomic_t ended;

/* The launcher ends all ranks when one of them dies. */
static void note_end(int number) {
    (void)number;
    ended = 1;
}

static void report_missing(const struct schedule *s) {
    for (int i = 1; i <= s->job->parts; i++)
        if (s->parts[i].owner < 0) fprintf(stderr, "ntrace-mpi: part %d of %d is missing\n", i, s->job->parts);
}

static void stop_if_ended(const struct schedule *s) {
    if (!ended) return;
    fprintf(stderr, "ntrace-mpi: the job was ended, perhaps because a rank has died\n");
    report_missing(s);
    _exit(EXIT_MISSING);
}

/* Hands out all parts. Returns whether all answers are there. */
static bool distribute(struct job *j, struct schedule *s) {
    *s = (struct schedule){.job = j, .ranks = get((size_t)j->ranks, sizeof *s->ranks), .parts = get((size_t)j->parts + 1, sizeof *s->parts)};
    for (int i = 1; i <= j->parts; i++) s->parts[i].owner = -1;
    for (int i = 0; i < j->ranks; i++) s->ranks[i].seen = now();
    while (is_open(s) || any_busy(s)) {
        stop_if_ended(s);
        take_message(s);
        hand_out(s);
        work_alone(s);
        if (j->ranks > 1) pause_for(1);
    }
    for (int rank = 1; rank < j->ranks; rank++) {
        const int end = NO_PART;
        if (!s->ranks[rank].dead) MPI_Send(&end, 1, MPI_INT, rank, TAG_WORK, MPI_COMM_WORLD);
    }
    report_missing(s);
    return s->lost == 0;
}

/* ---- the tree */

static void send_file(const char *path, int to) {
    FILE *file = fopen(path, "rb");
    struct stat info = {0};
    char *bytes = get(SENT_AT_ONCE, 1);

    if (!file || fstat(fileno(file), &info) != 0) die("cannot read a partial answer");
    uint64_t size = (uint64_t)info.st_size;
    MPI_Send(&size, 1, MPI_UINT64_T, to, TAG_SIZE, MPI_COMM_WORLD);
    while (size) {
        const size_t got = fread(bytes, 1, size < SENT_AT_ONCE ? (size_t)size : SENT_AT_ONCE, file);
        if (!got) die("cannot read a partial answer");
        MPI_Send(bytes, (int)got, MPI_BYTE, to, TAG_BYTES, MPI_COMM_WORLD);
        size -= got;
    }
    fclose(file);
    free(bytes);
}

static char *receive_file(const struct job *j, int from) {
    char *path = file_name(j, "from", from), *bytes = get(SENT_AT_ONCE, 1);
    FILE *file = fopen(path, "wb");
    uint64_t size;

    MPI_Recv(&size, 1, MPI_UINT64_T, from, TAG_SIZE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    while (size) {
        MPI_Status status;
        int got;
        MPI_Recv(bytes, SENT_AT_ONCE, MPI_BYTE, from, TAG_BYTES, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_BYTE, &got);
        if (!file || fwrite(bytes, 1, (size_t)got, file) != (size_t)got) die("cannot write a partial answer");
        size -= (uint64_t)got;
    }
    if (!file || fclose(file) != 0) die("cannot write a partial answer");
    free(bytes);
    return path;
}

/* Combines the files of this rank into one. */
static void combine(struct job *j, int step) {
    int count = 0;

    if (!j->file_count) return;
    char **arguments = get((size_t)j->file_count + 5, sizeof *arguments), *sum = file_name(j, "sum", step);
    arguments[count++] = j->ntrace;
    arguments[count++] = "combine";
    arguments[count++] = "-o";
    arguments[count++] = sum;
    for (int i = 0; i < j->file_count; i++) arguments[count++] = j->files[i];
    if (run(j, arguments, NULL) != 0) die("partial answers cannot be combined");
    for (int i = 0; i < j->file_count; i++) {
        unlink(j->files[i]);
        free(j->files[i]);
    }
    j->files[0] = sum;
    j->file_count = 1;
    free(arguments);
}

/* `order`: the ranks that are alive, rank 0 first; this one is at `place`. In step 2^k, every second one of those that are left sends its
 * sum to the one before it. */
static void reduce(struct job *j, const int *order, int count, int place) {
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
static int show(struct job *j) {
    char **arguments = get((size_t)(j->file_count + j->word_count) + 4, sizeof *arguments);
    int count = 0;

    arguments[count++] = j->ntrace;
    arguments[count++] = "combine";
    arguments[count++] = "--redo";
    for (int i = 0; i < j->file_count; i++) arguments[count++] = j->files[i];
    for (int i = 0; i < j->word_count; i++)
        if (i != j->trace) arguments[count++] = j->words[i];
    const int status = run(j, arguments, NULL);
    free(arguments);
    return status;
}

/* ---- */

static bool is_bundle(const char *word) {
    char path[PATH_MAX + 16];

    snprintf(path, sizeof path, "%s/capture.json", word);
    return access(path, R_OK) == 0;
}

/* Parses an option of ntrace-mpi with a number. */
static bool take_option(char **argv, const char *name, int *value) {
    char *end;

    if (strcmp(argv[0], name) != 0 || !argv[1]) return false;
    const long number = strtol(argv[1], &end, 10);
    if (*end || number < 1 || number > NUMBER_MAX) return false;
    *value = (int)number;
    return true;
}

static bool parse(struct job *j, int argc, char **argv) {
    int at = 1;

    j->parts = j->ranks > 1 ? 2 * (j->ranks - 1) : 1;
    j->silent = 60;
    while (at + 1 < argc && (take_option(argv + at, "--parts", &j->parts) || take_option(argv + at, "--silent", &j->silent))) at += 2;
    j->words = argv + at;
    j->word_count = argc - at;
    if (j->word_count < 2 || j->words[0][0] == '-') return false;
    j->trace = j->word_count - 1;
    for (int i = 1; i < j->word_count; i++)
        if (is_bundle(j->words[i])) j->trace = i;
    return true;
}

/* The command is beside this program. */
static void find_ntrace(struct job *j) {
    char path[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);

    if (length <= 0) die("cannot find ntrace");
    path[length] = 0;
    snprintf(j->ntrace, sizeof j->ntrace, "%s/ntrace", dirname(path));
    if (access(j->ntrace, X_OK) != 0) die("expected ntrace beside ntrace-mpi");
}

static void make_folder(struct job *j) {
    const char *parent = getenv("TMPDIR");

    const int length = snprintf(j->folder, sizeof j->folder, "%s/ntrace-mpi.XXXXXX", parent && *parent ? parent : "/tmp");
    if (length < 0 || (size_t)length >= sizeof j->folder || !mkdtemp(j->folder)) die("cannot create a folder in $TMPDIR");
    j->files = get((size_t)j->parts + (size_t)j->ranks + 1, sizeof *j->files);
}

static void remove_folder(struct job *j) {
    for (int i = 0; i < j->file_count; i++) {
        if (j->files[i]) unlink(j->files[i]);
        free(j->files[i]);
    }
    free(j->files);
    rmdir(j->folder);
}

/* Tells the ranks that are alive who they are. Returns the number of dead ones. */
static int agree(const struct job *j, const struct schedule *s, int *order, int *count) {
    int dead = 0;

    for (int rank = 0; rank < j->ranks; rank++) {
        if (rank && s->ranks[rank].dead) dead++;
        else order[(*count)++] = rank;
    }
    for (int i = 1; i < *count; i++) {
        MPI_Send(count, 1, MPI_INT, order[i], TAG_WORK, MPI_COMM_WORLD);
        MPI_Send(order, *count, MPI_INT, order[i], TAG_WORK, MPI_COMM_WORLD);
    }
    return dead;
}

static int run_root(struct job *j, int *order, int *dead) {
    struct schedule s;
    int count = 0;
    const bool complete = distribute(j, &s);

    *dead = agree(j, &s, order, &count);
    free(s.ranks);
    free(s.parts);
    reduce(j, order, count, 0);
    return complete ? show(j) : EXIT_MISSING;
}

static void run_worker(struct job *j, int *order) {
    int count, place = 0;

    work(j);
    MPI_Recv(&count, 1, MPI_INT, 0, TAG_WORK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(order, count, MPI_INT, 0, TAG_WORK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    while (order[place] != j->rank) place++;
    reduce(j, order, count, place);
}

int main(int argc, char **argv) {
    struct job j = {0};
    int status = 0, dead = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* a message to a rank that is dead */
    MPI_Comm_rank(MPI_COMM_WORLD, &j.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &j.ranks);
    if (!parse(&j, argc, argv)) {
        if (!j.rank) fprintf(stderr, "ntrace-mpi: usage: ntrace-mpi [--parts N] [--silent SECONDS] COMMAND [OPTION]... TRACE\n");
        MPI_Finalize();
        return EXIT_USAGE;
    }
    if (!j.rank) signal(SIGTERM, note_end);
    find_ntrace(&j);
    make_folder(&j);
    int *order = get((size_t)j.ranks, sizeof *order);
    if (j.rank) run_worker(&j, order);
    else status = run_root(&j, order, &dead);
    remove_folder(&j);
    free(order);
    if (dead) _exit(status); /* MPI_Finalize waits for all ranks */
    MPI_Finalize();
    return status;
}
