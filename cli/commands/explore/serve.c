/* The server answers two kinds of requests: GET /TOKEN/ is the page, POST /TOKEN/ask/N is a question about trace N.
 *
 * Everything on this machine can connect to the port, and so can scripts of any page in the user's browser. A request
 * is therefore answered only if it knows the token, which is random and in the URL alone; if its Host is the address
 * that the server listens at, which excludes names that others let point here; and if its Origin, when it has one, is
 * that of the page. The server has no request that changes anything. */
#include "commands/explore/serve.h"
#include "commands/explore/index.h"
#include "load/library.h"
#include "io/server.h"
#include "options/diagnostics.h"

#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    QUESTION_MOST = 1 << 16,  /* bytes */
    WORK_MILLISECONDS = 20,   /* of the index, between two looks for requests */
    IDLE_MILLISECONDS = 200,
    TOKEN_BYTES = 16,
};

static const char page[] = {
#include "explore.html.inc"
};

struct service {
    struct explore_session *sessions;
    const struct explore_options *options;
    size_t count;
    struct cli_listening place;
    char token[2 * TOKEN_BYTES + 1];
    char host[100];
};

/* The body of a request that is being received. */
struct request {
    char *body;
    size_t size;
    bool too_long;
};

/* ---- the library */

#define HTTP_FUNCTIONS(X)                                                                                              \
    X(start_daemon)                                                                                                    \
    X(run_wait)                                                                                                        \
    X(stop_daemon)                                                                                                     \
    X(lookup_connection_value)                                                                                         \
    X(create_response_from_buffer)                                                                                     \
    X(add_response_header)                                                                                             \
    X(queue_response)                                                                                                  \
    X(destroy_response)

/* The functions of libmicrohttpd, which is loaded when the server starts: it needs seven other libraries, and every
 * other command would begin with loading them. */
static struct {
#define MEMBER(name) __typeof__(MHD_##name) *name;
    HTTP_FUNCTIONS(MEMBER)
#undef MEMBER
} http;

static bool load(void) {
    void *library = ntr_library_open(MICROHTTPD);
    bool found = library != NULL;

#define FIND(name) found = found && ntr_library_find(library, "MHD_" #name, &http.name);
    HTTP_FUNCTIONS(FIND)
#undef FIND
    return found;
}

/* ---- who asks */

static bool same_text(const char *one, const char *other, size_t size) {
    unsigned char difference = 0;

    for (size_t i = 0; i < size; i++) difference |= (unsigned char)(one[i] ^ other[i]);
    return difference == 0; /* the time does not depend on the place of a difference */
}

static const char *header(struct MHD_Connection *connection, const char *name) {
    return http.lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static bool is_ours(const struct service *s, struct MHD_Connection *connection) {
    const char *host = header(connection, "Host"), *origin = header(connection, "Origin");
    const char *site = header(connection, "Sec-Fetch-Site");

    if (!host || strcmp(host, s->host) != 0) return false;
    if (origin && (strncmp(origin, "http://", 7) != 0 || strcmp(origin + 7, s->host) != 0)) return false;
    return !site || strcmp(site, "same-origin") == 0 || strcmp(site, "none") == 0;
}

/* Returns what follows "/TOKEN/", or NULL. */
static const char *path_of(const struct service *s, const char *url) {
    const size_t size = strlen(s->token);

    if (*url != '/' || strlen(url) < size + 2 || url[size + 1] != '/') return NULL;
    return same_text(url + 1, s->token, size) ? url + size + 2 : NULL;
}

/* ---- answers */

static enum MHD_Result reply(struct MHD_Connection *connection, unsigned status, const char *type, const void *bytes,
                             size_t size, enum MHD_ResponseMemoryMode mode) {
    struct MHD_Response *response = http.create_response_from_buffer(size, (void *)(uintptr_t)bytes, mode);

    if (!response) return MHD_NO;
    http.add_response_header(response, "Content-Type", type);
    http.add_response_header(response, "Cache-Control", "no-store");
    http.add_response_header(response, "X-Content-Type-Options", "nosniff");
    http.add_response_header(response, "X-Frame-Options", "DENY");
    http.add_response_header(response, "Referrer-Policy", "no-referrer");
    http.add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin");
    enum MHD_Result result = http.queue_response(connection, status, response);
    http.destroy_response(response);
    return result;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned status, const char *why) {
    return reply(connection, status, "text/plain; charset=utf-8", why, strlen(why), MHD_RESPMEM_PERSISTENT);
}

static enum MHD_Result answer(struct explore_session *session, struct MHD_Connection *connection,
                              const struct request *request) {
    ntr_bytes text;

    session->deadline = explore_clock() + EXPLORE_ANSWER_MILLISECONDS;
    const ntr_status status =
        ntr_explorer_ask(session->explorer, request->body ? request->body : "", request->size, &text);
    session->deadline = 0;
    if (status < 0 && status != NTR_E_INVALID)
        return refuse(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, ntr_status_text(status));
    return reply(connection, status == NTR_OK ? MHD_HTTP_OK : MHD_HTTP_BAD_REQUEST, "application/json", text.data,
                 text.size, MHD_RESPMEM_MUST_COPY);
}

static enum MHD_Result route(struct service *s, struct MHD_Connection *connection, const char *url, const char *method,
                             const struct request *request) {
    const char *path = path_of(s, url);
    char count[40];

    if (!is_ours(s, connection) || !path)
        return refuse(connection, MHD_HTTP_FORBIDDEN, "not the page of this server\n");
    if (strcmp(method, "GET") == 0 && !*path)
        return reply(connection, MHD_HTTP_OK, "text/html; charset=utf-8", page, sizeof page, MHD_RESPMEM_PERSISTENT);
    if (strcmp(method, "GET") == 0 && strcmp(path, "traces") == 0) {
        const int size = snprintf(count, sizeof count, "%zu", s->count);
        return reply(connection, MHD_HTTP_OK, "application/json", count, (size_t)size, MHD_RESPMEM_MUST_COPY);
    }
    const bool asks = strcmp(method, "POST") == 0 && strncmp(path, "ask/", 4) == 0;
    const unsigned number = asks && path[4] >= '0' && path[4] <= '9' && !path[5] ? (unsigned)(path[4] - '0') : 10;
    if (number >= s->count) return refuse(connection, MHD_HTTP_NOT_FOUND, "no such page\n");
    if (request->too_long) return refuse(connection, MHD_HTTP_CONTENT_TOO_LARGE, "the question is too long\n");
    return answer(&s->sessions[number], connection, request);
}

static void receive(struct request *request, const char *bytes, size_t size) {
    if (size > QUESTION_MOST - request->size) request->too_long = true;
    if (request->too_long) return;
    char *body = realloc(request->body, request->size + size);
    if (!body) {
        request->too_long = true;
        return;
    }
    memcpy(body + request->size, bytes, size);
    request->body = body;
    request->size += size;
}

static enum MHD_Result handle(void *user, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *bytes, size_t *size, void **state) {
    struct request *request = *state;

    (void)version;
    if (!request) {
        *state = calloc(1, sizeof *request);
        return *state ? MHD_YES : MHD_NO;
    }
    if (*size) {
        receive(request, bytes, *size);
        *size = 0;
        return MHD_YES;
    }
    return route(user, connection, url, method, request);
}

static void forget(void *user, struct MHD_Connection *connection, void **state,
                   enum MHD_RequestTerminationCode reason) {
    struct request *request = *state;

    (void)user, (void)connection, (void)reason;
    if (request) free(request->body);
    free(request);
    *state = NULL;
}

/* ---- the browser */

static void show(const char *url) {
    const pid_t child = fork();

    if (child == 0) {
        if (fork() == 0) {
            if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)) _exit(1);
            execlp("xdg-open", "xdg-open", url, (char *)NULL);
            _exit(1);
        }
        _exit(0);
    }
    if (child > 0) waitpid(child, NULL, 0);
}

/* ---- the loop */

static bool make_token(struct service *s) {
    unsigned char bytes[TOKEN_BYTES];

    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) return false;
    for (size_t i = 0; i < sizeof bytes; i++) snprintf(s->token + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

/* Returns whether there is more to do. */
static bool work(struct service *s) {
    const uint64_t end = explore_clock() + WORK_MILLISECONDS;
    bool more = false;

    for (size_t i = 0; i < s->count; i++) {
        ntr_status status = NTR_END;
        while (status == NTR_END && !cli_progress_stopped() && explore_clock() < end)
            status = ntr_explorer_work(s->sessions[i].explorer);
        if (status == NTR_END) more = true;
        if (status == NTR_OK) explore_index_keep(&s->sessions[i], s->options);
    }
    return more;
}

static int listen_at(struct service *s, const char *listen) {
    char host[64] = "127.0.0.1";
    const char *why, *colon = listen ? strrchr(listen, ':') : NULL, *port = colon ? colon + 1 : listen ? listen : "0";

    if (colon) snprintf(host, sizeof host, "%.*s", (int)(colon - listen), listen);
    const int fd = cli_server_listen(host, port, &s->place, &why);
    if (fd < 0) return cli_fail("--listen %s: %s", listen ? listen : "127.0.0.1:0", why), -1;
    if (!s->place.is_loopback) {
        close(fd);
        return cli_fail("--listen %s: expected a loopback address; from another machine, use ssh -L", listen), -1;
    }
    snprintf(s->host, sizeof s->host, "%s:%s", s->place.host, s->place.port);
    return fd;
}

static int run(struct service *s, int listener, bool browser) {
    char url[200];
    struct MHD_Daemon *daemon = http.start_daemon(
        MHD_NO_FLAG, 0, NULL, NULL, handle, s, MHD_OPTION_LISTEN_SOCKET, listener, MHD_OPTION_NOTIFY_COMPLETED, forget,
        NULL, MHD_OPTION_CONNECTION_LIMIT, 64u, MHD_OPTION_CONNECTION_TIMEOUT, 60u, MHD_OPTION_END);

    if (!daemon) {
        close(listener);
        return cli_fail("cannot start the server");
    }
    snprintf(url, sizeof url, "http://%s/%s/", s->host, s->token);
    puts(url);
    fflush(stdout);
    if (browser) show(url);
    for (bool more = true; !cli_progress_stopped(); more = more && work(s))
        http.run_wait(daemon, more ? 0 : IDLE_MILLISECONDS);
    http.stop_daemon(daemon);
    return CLI_OK;
}

int explore_serve(struct explore_session *sessions, size_t count, const struct explore_options *options) {
    struct service s = {.sessions = sessions, .count = count, .options = options};

    if (!load())
        return cli_fail("the server needs %s, which is not installed (Debian: apt install libmicrohttpd12)",
                        MICROHTTPD);
    if (!make_token(&s)) return cli_fail("the system has no random numbers");
    cli_progress_catch_stop();
    const int listener = listen_at(&s, options->listen);
    return listener < 0 ? CLI_FAILED : run(&s, listener, !options->no_browser);
}
