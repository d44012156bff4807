/* Parts and ranks: rank 0 hands out parts; those of a process that fails, or of a rank that is silent, are handed out
 * again. */
#include "mpi/job.h"

#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ATTEMPTS = 3 };

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
    r->seen = job_now();
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
        if (!r->dead && !r->waits && job_now() - r->seen > s->job->silent) bury(s, rank);
        const int part = r->dead || !r->waits ? NO_PART : next_part(s);
        if (part == NO_PART) continue;
        s->parts[part].running = true;
        s->parts[part].attempts++;
        r->part = part;
        r->waits = false;
        r->seen = job_now();
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
    take_result(s, 0, part, !job_decode(s->job, part));
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
    *s = (struct schedule){.job = j,
                           .ranks = job_get((size_t)j->ranks, sizeof *s->ranks),
                           .parts = job_get((size_t)j->parts + 1, sizeof *s->parts)};
    for (int i = 1; i <= j->parts; i++) s->parts[i].owner = -1;
    for (int i = 0; i < j->ranks; i++) s->ranks[i].seen = job_now();
    while (is_open(s) || any_busy(s)) {
        stop_if_ended(s);
        take_message(s);
        hand_out(s);
        work_alone(s);
        if (j->ranks > 1) job_pause(1);
    }
    for (int rank = 1; rank < j->ranks; rank++) {
        const int end = NO_PART;
        if (!s->ranks[rank].dead) MPI_Send(&end, 1, MPI_INT, rank, TAG_WORK, MPI_COMM_WORLD);
    }
    report_missing(s);
    return s->lost == 0;
}

/* Tells the ranks that are alive who they are. Returns the number of dead ones. */
static int agree(const struct job *j, const struct schedule *s, int *order, int *count) {
    int dead = 0;

    for (int rank = 0; rank < j->ranks; rank++) {
        if (rank && s->ranks[rank].dead)
            dead++;
        else
            order[(*count)++] = rank;
    }
    for (int i = 1; i < *count; i++) {
        MPI_Send(count, 1, MPI_INT, order[i], TAG_WORK, MPI_COMM_WORLD);
        MPI_Send(order, *count, MPI_INT, order[i], TAG_WORK, MPI_COMM_WORLD);
    }
    return dead;
}

bool job_distribute(struct job *j, int *order, int *count, int *dead) {
    struct schedule s;

    signal(SIGTERM, note_end);
    const bool complete = distribute(j, &s);

    *dead = agree(j, &s, order, count);
    free(s.ranks);
    free(s.parts);
    return complete;
}

/* ---- the other ranks */

void job_work(struct job *j) {
    struct ready ready = {NO_PART, 0};

    for (;;) {
        int part;
        MPI_Send(&ready, 2, MPI_INT, 0, TAG_READY, MPI_COMM_WORLD);
        MPI_Recv(&part, 1, MPI_INT, 0, TAG_WORK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (part == NO_PART) return;
        ready = (struct ready){part, !job_decode(j, part)};
    }
}
