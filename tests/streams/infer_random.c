/* infer_random [-a] [-s SEED] [-n COUNT] [-l INSTRUCTIONS] [-d FLIPS] [-v]: random programs and encoder settings; what
 * ntr_infer says of their streams. Speaks TAP: no sure choice is wrong, and the inferred parameters decode like the
 * right ones in at least 99 of 100 runs. With -a the streams are of all dialects that the encoder writes, also with
 * settings that no hardware of the dialect has (98 of 100); 1 of 6 may be "not determined" and decode otherwise. With
 * -d so many bits of each stream are wrong: no sure choice is wrong, and what a command without options assumes hides
 * an error of at most one stream in 200 (with a Config message that is itself damaged, nothing shows it). */
#include "setup.h"

#include <ntrace/infer.h>
#include <ntrace/ntrace.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t mix(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* A hash of all events of a decoding, including times. */
static uint64_t decode(const setup *s, const ntr_params *params, const setup_stream *stream) {
    static ntr_event events[512];
    ntr_decoder_config config = {.size = sizeof config, .params = *params, .program = s->program};
    ntr_decoder *d;
    ntr_decoder_new(&config, &d);
    uint64_t hash = 0;
    ntr_status status = NTR_E_INVALID;
    if (!d) return 0;
    ntr_decoder_feed(d, stream->bytes, stream->size, true);
    do {
        size_t count;
        status = ntr_decoder_read(d, events, 512, &count);
        for (size_t i = 0; i < count; i++) {
            const ntr_event *e = &events[i];
            hash = mix(mix(hash, (uint64_t)e->kind << 32 | (uint64_t)e->end << 16 | e->src),
                       e->flags & NTR_EVENT_TIME ? e->time : 0);
            if (e->kind == NTR_EVENT_SPAN) hash = mix(mix(hash, e->address), (uint64_t)e->halfwords << 32 ^ e->target);
        }
    } while (status == NTR_OK);
    ntr_decoder_free(d);
    return hash;
}

/* Whether the stream, read with these parameters, shows an error. */
static bool shows_error(const setup *s, const ntr_params *params, const setup_stream *stream) {
    static ntr_event events[512];
    ntr_decoder_config config = {.size = sizeof config, .params = *params, .program = s->program};
    ntr_decoder *d;
    ntr_decoder_new(&config, &d);
    bool shown = false;
    ntr_status status;
    if (!d) abort();
    ntr_decoder_feed(d, stream->bytes, stream->size, true);
    do {
        size_t count;
        status = ntr_decoder_read(d, events, 512, &count);
        for (size_t i = 0; i < count; i++) shown |= events[i].kind == NTR_EVENT_GAP || events[i].kind == NTR_EVENT_NOTE;
    } while (status == NTR_OK && !shown);
    ntr_decoder_free(d);
    return shown;
}

/* The parameters that a command without options uses: the defaults, and what is sure or likely. */
static ntr_params assumed(const ntr_inference *got) {
    ntr_params used;
    char value[32];
    ntr_params_init(&used, NULL);
    for (unsigned p = 0; p < NTR_PARAMETERS; p++) {
        const unsigned confidence = got->choices[p].confidence;
        if (confidence != NTR_CONFIDENCE_SURE && confidence != NTR_CONFIDENCE_LIKELY) continue;
        if (ntr_params_get(&got->params, ntr_parameter_name(p), value, sizeof value) >= 0)
            ntr_params_set(&used, ntr_parameter_name(p), value);
    }
    return used;
}

static const char *value_of(const ntr_params *params, ntr_parameter p, char *out, size_t capacity) {
    if (ntr_params_get(params, ntr_parameter_name(p), out, capacity) < 0) abort();
    return out;
}

/* Whether a sure choice contradicts the configuration of the encoder. Which way of implicit returns an encoder has is
 * only known to itself; a decoder reads all alike. */
static bool sure_and_wrong(const ntr_inference *got, const ntr_params *want, ntr_parameter p) {
    char has[32], should[32];
    if (got->choices[p].confidence != NTR_CONFIDENCE_SURE) return false;
    if (p == NTR_PARAMETER_DATA_ADDRESS) return false; /* no parameter of an encoder */
    if (p == NTR_PARAMETER_IMPLICIT_RETURN) return !got->params.implicit_return != !want->implicit_return;
    if (p == NTR_PARAMETER_TIMESTAMPS)
        return strcmp(got->choices[p].value, want->timestamps == NTR_TIMESTAMPS_ON ? "on" : "off") != 0;
    return strcmp(value_of(&got->params, p, has, sizeof has), value_of(want, p, should, sizeof should)) != 0;
}

/* Whether the inference says of a parameter with another value that the stream does not determine it. */
static bool admits(const ntr_inference *got, const ntr_params *want) {
    uint32_t differ = ntr_params_difference(&got->params, want);
    for (unsigned p = 0; p < NTR_PARAMETERS; p++)
        if (differ >> p & 1 && got->choices[p].confidence == NTR_CONFIDENCE_UNKNOWN) return true;
    return false;
}

typedef struct tally {
    unsigned runs, wrong, unlike, open, hidden, errors;
    uint64_t bytes;
} tally;

static void print(const ntr_inference *got, const ntr_params *want) {
    printf("# truth: dialect %s rule %u full %u width %u predictor %u cache %u xlen %u\n",
           want->dialect ? want->dialect->name : "-", want->ts_rule, want->no_addr_diff, want->addr_bits,
           want->branch_predictor, want->jump_cache, want->xlen);
    printf("# truth: stack %u\n", want->return_stack);
    printf("# truth: src %u returns %u sequential %u extend %u jumps %u timestamps %u width %u\n", want->src_bits,
           want->implicit_return, want->sequential_jump, want->extend_addr, want->all_jumps, want->timestamps,
           want->ts_width);
    for (unsigned p = 0; p < NTR_PARAMETERS; p++)
        printf("#   %s: %s, %s: %s\n", ntr_parameter_name(p), got->choices[p].value,
               ntr_confidence_name(got->choices[p].confidence), got->choices[p].evidence);
}

static void damage(setup_stream *stream, unsigned flips, prng *random) {
    for (unsigned i = 0; i < flips && stream->size; i++)
        stream->bytes[prng_range(random, 0, (uint32_t)stream->size - 1)] ^= (uint8_t)(1u << prng_range(random, 0, 7));
}

static void run(uint64_t seed, const setup_wish *wish, unsigned flips, bool verbose, tally *t) {
    setup *s = setup_new(seed, wish);
    setup_stream *streams[SETUP_HARTS_MAX];
    for (unsigned i = 0; i < s->harts; i++) streams[i] = setup_encode(&s->hart[i]);
    setup_stream *stream = setup_merge(streams, s->harts, &s->random);
    damage(stream, flips, &s->random);
    ntr_infer_config config = {.size = sizeof config, .program = s->program};
    ntr_inference got;
    ntr_status status = ntr_infer(&config, (ntr_bytes){stream->bytes, stream->size}, &got);
    bool wrong = status != NTR_OK;
    for (unsigned p = 0; p < NTR_PARAMETERS && !wrong; p++) {
        wrong = sure_and_wrong(&got, &s->params, p);
        if (wrong) printf("# seed %" PRIu64 ": %s is wrong\n", seed, ntr_parameter_name(p));
    }
    bool unlike = !flips && decode(s, &got.params, stream) != decode(s, &s->params, stream);
    const bool open = unlike && admits(&got, &s->params);
    unlike = unlike && !open;
    if (unlike) printf("# seed %" PRIu64 ": decodes otherwise (%zu bytes)\n", seed, stream->size);
    ntr_params right = s->params;
    right.timestamps = NTR_TIMESTAMPS_SEEN; /* as without the option */
    const bool error = flips && shows_error(s, &right, stream);
    const ntr_params used = assumed(&got);
    const bool hidden = error && !shows_error(s, &used, stream);
    if (hidden) printf("# seed %" PRIu64 ": an error is hidden (%zu bytes)\n", seed, stream->size);
    t->errors += error;
    t->hidden += hidden;
    if (verbose || wrong || unlike || hidden) print(&got, &s->params);
    t->runs++;
    t->wrong += wrong;
    t->unlike += unlike;
    t->open += open;
    t->bytes += stream->size;
    for (unsigned i = 0; i < s->harts; i++) setup_stream_free(streams[i]);
    setup_stream_free(stream);
    setup_free(s);
}

int main(int argc, char **argv) {
    uint64_t seed = 1, count = 100;
    setup_wish wish = {.instructions = 20000, .standard = true};
    unsigned flips = 0;
    bool verbose = false;
    for (int c; (c = getopt(argc, argv, "as:n:l:d:v")) != -1;) {
        switch (c) {
        case 'a': wish.standard = false; break;
        case 's': seed = strtoull(optarg, NULL, 0); break;
        case 'n': count = strtoull(optarg, NULL, 0); break;
        case 'l': wish.instructions = (unsigned)strtoul(optarg, NULL, 0); break;
        case 'd': flips = (unsigned)strtoul(optarg, NULL, 0); break;
        case 'v': verbose = true; break;
        default: return 2;
        }
    }
    tally t = {0};
    for (uint64_t i = 0; i < count; i++) run(seed + i, &wish, flips, verbose, &t);
    printf("1..4\n%s 1 - no sure choice is wrong (%u of %u)\n", t.wrong ? "not ok" : "ok", t.wrong, t.runs);
    bool alike = 100 * (uint64_t)t.unlike <= (wish.standard ? 1 : 2) * (uint64_t)t.runs;
    printf("%s 2 - inferred parameters decode like the right ones (%u of %u do not, %" PRIu64 " bytes a stream)\n",
           alike ? "ok" : "not ok", t.unlike, t.runs, t.bytes / (t.runs ? t.runs : 1));
    const bool determined = 6 * (uint64_t)t.open <= t.runs;
    printf("%s 3 - what is not determined is rare (%u of %u decode otherwise)\n", determined ? "ok" : "not ok", t.open,
           t.runs);
    const bool shown = 200 * (uint64_t)t.hidden <= t.errors + 199;
    printf("%s 4 - what is assumed hides no error (%u of %u)\n", shown ? "ok" : "not ok", t.hidden, t.errors);
    return t.wrong || !alike || !determined || !shown;
}
