#include "io/gdb_link.h"
#include "io/server.h"
#include "options/diagnostics.h"

#include <ntrace/target.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
enum { END_SIGNALS = sizeof signals / sizeof signals[0] };

static volatile sig_atomic_t arrived;

static void note(int number) {
    arrived = number;
}

static void change(int how, int number) {
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, number);
    sigprocmask(how, &set, NULL);
}

void cli_end_signal_catch(void) {
    for (size_t i = 0; i < END_SIGNALS; i++) {
        struct sigaction old, action = {.sa_handler = note};
        if (sigaction(signals[i], NULL, &old) != 0 || old.sa_handler == SIG_IGN) continue;
        change(SIG_BLOCK, signals[i]);
        sigaction(signals[i], &action, NULL);
    }
}

int cli_end_signal_poll(struct pollfd *files, nfds_t count, int milliseconds) {
    const struct timespec time = {.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000L};
    sigset_t none;

    sigemptyset(&none);
    return ppoll(files, count, milliseconds < 0 ? NULL : &time, &none);
}

int cli_end_signal(void) {
    return arrived;
}

void cli_end_signal_restore(void) {
    for (size_t i = 0; i < END_SIGNALS; i++) {
        signal(signals[i], SIG_DFL);
        change(SIG_UNBLOCK, signals[i]);
    }
}

void cli_end_signal_pass(void) {
    if (!arrived) return;
    cli_end_signal_restore();
    raise(arrived);
}

/* docs/gdb.md, "Connecting", has the reasons. */
static const char setup[] = {
#include "ntrace.gdb.inc"
    , 0};

static const char *const names[] = {
    "gdb-multiarch",
    "riscv64-linux-gnu-gdb",
    "riscv64-unknown-linux-gnu-gdb",
    "riscv64-unknown-elf-gdb",
    "riscv64-elf-gdb",
    "gdb",
    NULL,
};

/* Waits for a process; sends it `number` first, if that is not 0. One that ignores it is killed. Returns its status. */
static int end_child(pid_t child, int number) {
    enum { END_CHECKS = 100, CHECK_NANOSECONDS = 5000000 };
    int status = 0;

    if (number) kill(child, number);
    for (unsigned i = 0;; i++) {
        const pid_t ended = waitpid(child, &status, WNOHANG);
        if (ended == child || (ended < 0 && errno != EINTR)) return status;
        if (i >= END_CHECKS && (number || cli_end_signal())) kill(child, SIGKILL);
        if (!number && cli_end_signal()) kill(child, number = SIGTERM), i = 0;
        nanosleep(&(struct timespec){0, CHECK_NANOSECONDS}, NULL);
    }
}

int cli_gdb_end(int child) {
    return end_child(child, cli_end_signal());
}

static void run_test(const char *gdb, int out) {
    int null = open("/dev/null", O_RDWR);

    if (null >= 0) dup2(null, STDIN_FILENO);
    if (null >= 0) dup2(null, STDERR_FILENO);
    dup2(out, STDOUT_FILENO);
    execlp(gdb, gdb, "-nx", "-batch", "-ex", "set architecture riscv:rv64", "-ex", "show architecture", (char *)NULL);
    _exit(127);
}

/* Returns whether the program exists and knows the architecture. A GDB without RISC-V names it on standard error only.
 */
static bool knows_riscv(const char *gdb) {
    char text[1024] = {0};
    size_t size = 0;
    int ends[2];
    ssize_t got;

    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    pid_t child = fork();
    if (child == 0) run_test(gdb, ends[1]);
    close(ends[1]);
    while (child > 0 && size < sizeof text - 1) {
        struct pollfd ready = {.fd = ends[0], .events = POLLIN};
        if (cli_end_signal_poll(&ready, 1, -1) < 0 && cli_end_signal()) break;
        if (!ready.revents) continue;
        if ((got = read(ends[0], text + size, sizeof text - 1 - size)) <= 0) break;
        size += (size_t)got;
    }
    close(ends[0]);
    if (child > 0) end_child(child, cli_end_signal() ? SIGKILL : 0);
    return strstr(text, "riscv:rv64") != NULL;
}

const char *cli_gdb_find(const char *wanted) {
    if (wanted) return knows_riscv(wanted) ? wanted : NULL;
    for (size_t i = 0; names[i]; i++)
        if (knows_riscv(names[i])) return names[i];
    return NULL;
}

void cli_gdb_print_setup(FILE *out, const char *indent) {
    for (const char *line = setup, *end; (end = strchr(line, '\n')); line = end + 1)
        if (strncmp(line, "set ", 4) == 0) fprintf(out, "%s%.*s\n", indent, (int)(end - line), line);
}

static bool write_script(const char *path) {
    FILE *file = fopen(path, "we");
    const bool written = file && fputs(setup, file) >= 0;

    if (file && fclose(file) == 0 && written) return true;
    cli_note("%s: cannot write: %s", path, strerror(errno));
    return false;
}

int cli_gdb_launch(const char *gdb, const char *program, const char *socket, const char *script) {
    char connect[PATH_MAX + 32];
    char here[PATH_MAX + 2];
    const char *arguments[8] = {gdb, "-q", "-ix", script};
    size_t count = 4;

    if (!write_script(script)) return -1;
    snprintf(connect, sizeof connect, "target remote %s", socket);
    arguments[count++] = "-ex";
    arguments[count++] = connect;
    if (program && program[0] == '-') { /* not an option */
        snprintf(here, sizeof here, "./%s", program);
        program = here;
    }
    if (program) arguments[count++] = program;
    pid_t child = fork();
    if (child == 0) {
        signal(SIGPIPE, SIG_DFL);
        signal(SIGXFSZ, SIG_DFL);
        cli_end_signal_restore();
        execvp(gdb, (char *const *)(uintptr_t)arguments);
        _exit(127);
    }
    if (child < 0) cli_note("%s: cannot start: %s", gdb, strerror(errno));
    return child;
}

/* ---- sockets */

static int fail(const char *where) {
    cli_note("--listen %s: %s", where, strerror(errno));
    return -1;
}

static int listen_path(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct stat info;
    const size_t size = strlen(path);

    if (size >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return fail(path);
    }
    memcpy(address.sun_path, path, size + 1);
    if (lstat(path, &info) == 0 && S_ISSOCK(info.st_mode)) unlink(path); /* left by a process that was killed */
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0 && listen(fd, 1) == 0) return fd;
    fail(path);
    if (fd >= 0) close(fd);
    return -1;
}

static int listen_port(const char *where) {
    char text[NTR_HOST_BYTES + sizeof "[]:65535"], host[NTR_HOST_BYTES];
    struct cli_listening place;
    const char *why = "";

    snprintf(text, sizeof text, "%s%s", strchr(where, ':') ? "" : ":", where);
    const char *port = ntr_place_split(text, host);
    const int fd = port ? cli_server_listen(host, port, &place, &why) : -1;
    if (fd < 0) {
        const bool is_number = port && strspn(port, "0123456789") == strlen(port);
        cli_note("--listen %s: %s%s", where, is_number ? "" : "expected HOST:PORT, PORT or a path with a slash: ", why);
        return -1;
    }
    if (!place.is_loopback)
        cli_note("warning: everyone who reaches %s:%s can read the program and its trace", place.host, place.port);
    cli_note("in GDB: target remote %s:%s; in LLDB: gdb-remote %s:%s", place.host, place.port, place.host, place.port);
    cli_note("Listening on port %s",
             place.port); /* debug adapters wait for gdbserver's words, alone at the end of a line */
    return fd;
}

int cli_gdb_listen(const char *where) {
    return strchr(where, '/') ? listen_path(where) : listen_port(where);
}

int cli_gdb_accept(int listener, int child) {
    enum { CHILD_POLL_MS = 200 };
    const int on = 1;

    for (;;) {
        struct pollfd ready = {.fd = listener, .events = POLLIN};
        siginfo_t info = {0};
        if (cli_end_signal_poll(&ready, 1, child ? CHILD_POLL_MS : -1) < 0 && (errno != EINTR || cli_end_signal()))
            return -1;
        if (ready.revents) {
            int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
            if (fd >= 0) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
            if (fd >= 0 || (errno != EINTR && errno != EAGAIN)) return fd;
        }
        if (child && waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid) return -1;
    }
}

/* ---- bytes */

/* Reads what is there, after poll. */
static void receive(struct cli_gdb_link *link) {
    enum { READ_LEAST = 4096, PENDING_MAX = 1 << 20 };

    if (link->at) memmove(link->bytes, link->bytes + link->at, link->size);
    link->at = 0;
    if (link->capacity - link->size < READ_LEAST && link->capacity < PENDING_MAX) {
        uint8_t *grown = realloc(link->bytes, link->capacity + 4 * READ_LEAST);
        if (grown) link->bytes = grown;
        if (grown) link->capacity += 4 * READ_LEAST;
    }
    if (link->capacity == link->size) return;
    uint8_t *to = link->bytes + link->size;
    ssize_t got = read(link->in, to, link->capacity - link->size);
    if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) link->closed = true;
    if (got > 0) link->size += (size_t)got;
}

/* Takes the first interrupt out of the bytes that wait: those of packets are text, but for escaped data that a debugger
 * only sends to write memory. */
static void take_interrupt(struct cli_gdb_link *link) {
    uint8_t *first = link->bytes + link->at;
    uint8_t *at = link->size ? memchr(first, NTR_GDB_INTERRUPT, link->size) : NULL;

    if (!at) return;
    link->interrupted = true;
    memmove(at, at + 1, (size_t)(first + --link->size - at));
}

bool cli_gdb_link_proceed(void *user, uint64_t done) {
    struct cli_gdb_link *link = user;
    struct pollfd ready = {.fd = link->in, .events = POLLIN};

    (void)done;
    if (!link->closed && cli_end_signal_poll(&ready, 1, 0) > 0) receive(link);
    if (cli_end_signal()) return false;
    take_interrupt(link);
    if (link->closed) { /* all requests have arrived; is there still a reader of the answers? */
        ready = (struct pollfd){.fd = link->out};
        if (link->in == link->out || (poll(&ready, 1, 0) > 0 && ready.revents & (POLLERR | POLLHUP))) return false;
    }
    return !link->interrupted;
}

ntr_status cli_gdb_link_write(void *user, const void *bytes, size_t size) {
    enum { WRITE_MOST = 4096 }; /* does not wait where poll finds room */
    const struct cli_gdb_link *link = user;

    for (const uint8_t *at = bytes; size;) {
        struct pollfd ready = {.fd = link->out, .events = POLLOUT};
        if (cli_end_signal() || (cli_end_signal_poll(&ready, 1, -1) < 0 && errno != EINTR)) return NTR_E_IO;
        if (!ready.revents) continue; /* a signal, which may be one that ends the command */
        ssize_t n = write(link->out, at, size < WRITE_MOST ? size : WRITE_MOST);
        if (n < 0 && errno != EINTR && errno != EAGAIN) return NTR_E_IO;
        if (n < 0) continue;
        at += n;
        size -= (size_t)n;
    }
    return NTR_OK;
}

ntr_status cli_gdb_link_serve(struct cli_gdb_link *link, ntr_gdb *server) {
    ntr_status status = NTR_OK;

    while (status == NTR_OK && !(link->closed && !link->size) && !cli_end_signal()) {
        struct pollfd ready = {.fd = link->in, .events = POLLIN};
        if (!link->size && cli_end_signal_poll(&ready, 1, -1) < 0) {
            if (errno != EINTR) return NTR_E_IO;
            continue;
        }
        if (!link->size) receive(link);
        link->interrupted = false;
        if (!link->size) continue;
        /* One byte after the other: a packet may take long, and others may arrive behind it. */
        uint8_t byte = link->bytes[link->at++];
        link->size--;
        status = ntr_gdb_feed(server, &byte, 1);
    }
    return status == NTR_OK ? NTR_END : status;
}

void cli_gdb_link_close(struct cli_gdb_link *link) {
    if (link->in > STDERR_FILENO) close(link->in);
    free(link->bytes);
    *link = (struct cli_gdb_link){.in = -1, .out = -1};
}
