/* The stream of a scene in memory, for a replay, which opens it as often as it wants. */
#ifndef NTR_TEST_REPLAY_SCENE_STREAM_H
#define NTR_TEST_REPLAY_SCENE_STREAM_H

#include "../decoder/scene.h"

#include <ntrace/replay.h>

typedef struct scene_stream {
    stream in;
    size_t read;
} scene_stream;

static inline ntr_status scene_stream_read(void *user, uint8_t *to, size_t capacity, size_t *got) {
    scene_stream *s = user;
    *got = s->in.size - s->read < capacity ? s->in.size - s->read : capacity;
    if (*got) memcpy(to, s->in.bytes + s->read, *got);
    s->read += *got;
    return NTR_OK;
}

/* ntr_replay_config.open; `user` is the scene_stream. */
static inline ntr_status scene_stream_open(void *user, ntr_stream_reader **out) {
    ntr_stream_reader_config config;
    ((scene_stream *)user)->read = 0;
    ntr_stream_reader_config_init(&config);
    config.read = scene_stream_read;
    config.user = user;
    return ntr_stream_reader_new(&config, out);
}

/* Returns a replay of the stream with the program of the scene. */
static inline ntr_replay *scene_replay(scene *s, scene_stream *in, ntr_functions *functions) {
    ntr_replay_config config;
    ntr_replay_config_init(&config);
    config.decoder = &s->config;
    config.functions = functions;
    config.open = scene_stream_open;
    config.user = in;
    ntr_replay *replay;
    assert_int_equal(ntr_replay_new(&config, &replay), NTR_OK);
    return replay;
}

#endif
