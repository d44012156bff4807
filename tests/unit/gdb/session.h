/* A session of the server over a short trace in memory. */
#ifndef NTR_TEST_GDB_SESSION_H
#define NTR_TEST_GDB_SESSION_H

#include "../replay/scene_stream.h"

#include <ntrace/gdb.h>

typedef struct session {
    scene scene;
    scene_stream stream;
    ntr_debug_info *debug;
    ntr_functions *functions;
    ntr_replay *replay;
    ntr_gdb *gdb;
    char answer[8192];
    size_t size;
} session;

static inline ntr_status take_answer(void *user, const void *bytes, size_t size) {
    session *s = user;
    assert_true(s->size + size < sizeof s->answer);
    memcpy(s->answer + s->size, bytes, size);
    s->size += size;
    s->answer[s->size] = 0;
    return NTR_OK;
}

/* Serves the scene, which has code, with the messages of `text`. */
static inline void serve(session *s, const char *text) {
    ntr_gdb_config config;
    assemble(&s->stream.in, &s->scene.config.params, text);
    ntr_debug_info_new(s->scene.program, NULL, &s->debug);
    ntr_functions_new(s->debug, NULL, &s->functions);
    s->replay = scene_replay(&s->scene, &s->stream, s->functions);
    ntr_gdb_config_init(&config);
    config.replay = s->replay;
    config.program = s->scene.program;
    config.debug = s->debug;
    config.write = take_answer;
    config.user = s;
    config.serve_files = true;
    assert_int_equal(ntr_gdb_new(&config, &s->gdb), NTR_OK);
}

/* 0x1000: call 0x1100; add; jump to itself. 0x1100: sp -= 16; save ra; add; restore ra; sp += 16; ret. */
static inline void begin(session *s) {
    memset(s, 0, sizeof *s);
    scene_start(&s->scene, NULL);
    s->scene.config.params.implicit_return = NTR_RETURN_FULL;
    code(&s->scene, 0x1000, jal(1, 0x100), ADD, jal(0, 0));
    code(&s->scene, 0x1100, 0xff010113u, 0x00113423u, ADD, 0x00813083u, 0x01010113u, RET);
    serve(s, "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x800\nProgTraceCorrelation EVCODE=4 CDF=0 ICNT=18\n");
}

static inline void end(session *s) {
    ntr_gdb_free(s->gdb);
    ntr_replay_free(s->replay);
    ntr_functions_free(s->functions);
    ntr_debug_info_free(s->debug);
    scene_end(&s->scene);
}

/* Returns what the server answers, with the acknowledgement. */
static inline const char *ask(session *s, const char *packet) {
    char framed[512];
    uint8_t sum = 0;
    for (const char *at = packet; *at; at++) sum = (uint8_t)(sum + (uint8_t)*at);
    int size = snprintf(framed, sizeof framed, "$%s#%02x", packet, sum);
    s->size = 0;
    s->answer[0] = 0;
    ntr_status status = ntr_gdb_feed(s->gdb, framed, (size_t)size);
    assert_true(status == NTR_OK || status == NTR_END);
    return s->answer;
}

#endif
