/* Encoder options by name: one table for the command line, the plugin and topology files. */
#include "base/text.h"
#include "base/config.h"
#include "encoder/state.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef ntr_status (*option_set)(ntr_encoder_config *config, const char *value);
typedef int (*option_get)(const ntr_encoder_config *config, char *out, size_t capacity);

typedef struct option_row {
    ntr_encoder_option option;
    size_t offset, size; /* of the member; size 0: `set` and `get` access it */
    option_set set;
    option_get get;
} option_row;

/* ---- words and numbers ---------------------------------------------------------------------------------------- */

static int word_at(const char *words, uint64_t place, char *out, size_t capacity) {
    size_t length;
    const char *word = place <= UINT8_MAX ? ntr_choice_at(words, (unsigned)place, &length) : NULL;
    return word ? snprintf(out, capacity, "%.*s", (int)length, word) : NTR_E_RANGE;
}

static bool is_switch(const char *value, bool *on) {
    if (!value) value = "on";
    int place = ntr_choice_find("off|on", value, strlen(value));
    *on = place == 1;
    return place >= 0;
}

static ntr_status parse_number(const char *text, uint64_t least, uint64_t most, uint64_t *value) {
    if (!text) return NTR_E_SYNTAX;
    const char *end = text + strlen(text);
    if (ntr_read_number(text, end, value) != end) return NTR_E_SYNTAX;
    return *value < least || *value > most ? NTR_E_RANGE : NTR_OK;
}

/* ---- options with code of their own ---------------------------------------------------------------- */

static ntr_status set_option(ntr_encoder_config *config, const char *name, size_t size, const char *value);

/* Sets the options of a dialect: "name=value name=value ...". */
static ntr_status set_options(ntr_encoder_config *config, const char *text) {
    while (*text) {
        char value[32];
        size_t name = strcspn(text, "="), end = strcspn(text, " ");
        if (name >= end || end - name > sizeof value) return NTR_E_SYNTAX;
        snprintf(value, sizeof value, "%.*s", (int)(end - name - 1), text + name + 1);
        ntr_status status = set_option(config, text, name, value);
        if (status != NTR_OK) return status;
        text += end + (text[end] == ' ');
    }
    return NTR_OK;
}

static ntr_status set_dialect(ntr_encoder_config *config, const char *value) {
    const ntr_dialect *dialect = ntr_dialect_find(value);
    if (!dialect || !dialect->encoder) return NTR_E_SYNTAX;
    config->params.dialect = dialect;
    if (dialect->src_bits) config->params.src_bits = dialect->src_bits;
    return set_options(config, dialect->encoder);
}

static int get_dialect(const ntr_encoder_config *config, char *out, size_t capacity) {
    const ntr_dialect *dialect = config->params.dialect ? config->params.dialect : ntr_dialect_at(0);
    return snprintf(out, capacity, "%s", dialect->name);
}

static ntr_status set_mode(ntr_encoder_config *config, const char *value) {
    int place = ntr_choice_find("btm|htm", value, strlen(value));
    if (place < 0) return NTR_E_SYNTAX;
    config->mode = place ? NTR_INST_MODE_HTM : NTR_INST_MODE_BTM;
    return NTR_OK;
}

static int get_mode(const ntr_encoder_config *config, char *out, size_t capacity) {
    return snprintf(out, capacity, "%s", config->mode == NTR_INST_MODE_HTM ? "htm" : "btm");
}

static ntr_status set_best(ntr_encoder_config *config, const char *value) {
    bool on;
    if (!is_switch(value, &on)) return NTR_E_SYNTAX;
    if (!on) return NTR_OK;
    /* Without extend_addr: it costs a byte if the highest bit sent is 1, and saves little, as U-ADDR is an XOR. */
    config->mode = NTR_INST_MODE_HTM;
    config->params.implicit_return = NTR_RETURN_FULL;
    config->params.return_stack = NTR_ENC_STACK_MAX;
    config->params.sequential_jump = true;
    config->repeated_history = true; /* and no repeat_branch: N-Trace 1.0 has no RepeatBranch in HTM (OQ-3) */
    if (config->history_repeats == NTR_REPEATS_WHOLE) config->history_repeats = NTR_REPEATS_ANY;
    return NTR_OK;
}

static int get_none(const ntr_encoder_config *config, char *out, size_t capacity) {
    (void)config, (void)out, (void)capacity;
    return NTR_E_NAME;
}

static const char TS_WORDS[] = "branch|resource|ownership|error|correlation"; /* bit n of NTR_TS_MESSAGE_* */

static ntr_status set_ts_messages(ntr_encoder_config *config, const char *value) {
    unsigned set = 0;
    for (const char *at = value;;) {
        size_t length = strcspn(at, "+");
        int place = ntr_choice_find(TS_WORDS, at, length);
        if (place >= 0)
            set |= 1u << place;
        else if (ntr_choice_find("all", at, length) == 0)
            set |= NTR_TS_MESSAGE_ALL;
        else if (ntr_choice_find("sync", at, length) != 0)
            return NTR_E_SYNTAX;
        if (!at[length]) break;
        at += length + 1;
    }
    config->ts_messages = (uint8_t)set;
    return NTR_OK;
}

static int get_ts_messages(const ntr_encoder_config *config, char *out, size_t capacity) {
    int length = snprintf(out, capacity, "sync");
    for (unsigned place = 0; (1u << place) & NTR_TS_MESSAGE_ALL; place++) {
        if (!(config->ts_messages >> place & 1)) continue;
        char word[16];
        word_at(TS_WORDS, place, word, sizeof word);
        size_t used = (size_t)length < capacity ? (size_t)length : capacity;
        length += snprintf(out + used, capacity - used, "+%s", word);
    }
    return length;
}

static ntr_status set_filter(ntr_encoder_config *config, const char *value) {
    if (config->filter_count == NTR_FILTERS_MAX) return NTR_E_LIMIT;
    ntr_status status = ntr_filter_parse(value, &config->filters[config->filter_count], NULL);
    if (status == NTR_OK) config->filter_count++;
    return status;
}

static ntr_status set_drain(ntr_encoder_config *config, const char *value) {
    const char *end = value + strlen(value);
    uint64_t bytes, cycles = 1;
    const char *at = ntr_read_number(value, end, &bytes);
    if (at && at < end && *at == '/') at = ntr_read_number(at + 1, end, &cycles);
    if (at != end) return NTR_E_SYNTAX;
    if (bytes > 1u << 30 || !cycles || cycles > 1u << 30) return NTR_E_RANGE;
    config->drain_bytes = (uint32_t)bytes;
    config->drain_cycles = (uint32_t)cycles;
    return NTR_OK;
}

static int get_drain(const ntr_encoder_config *config, char *out, size_t capacity) {
    return snprintf(out, capacity, "%u/%u", (unsigned)config->drain_bytes, (unsigned)config->drain_cycles);
}

/* ---- the table ------------------------------------------------------------------------------------- */

#define MEMBER(member) offsetof(ntr_encoder_config, member), sizeof(((ntr_encoder_config *)0)->member)
#define WORD(name, argument, member, words, help)                                                                      \
    {{name, words, help, NTR_OPTION_##argument, false, 0, 0}, MEMBER(member), NULL, NULL},
#define NUMBER(name, member, least, most, help)                                                                        \
    {{name, "N", help, NTR_OPTION_VALUE, true, least, most}, MEMBER(member), NULL, NULL},
#define OTHER(name, argument, value, set, get, help)                                                                   \
    {{name, value, help, NTR_OPTION_##argument, false, 0, 0}, 0, 0, set, get},

/* Stream parameters, by the kinds of <ntrace/params.def>. A SWITCH of the stream ("seen|on|off") is a flag here. */
#define NTR_PARAM(id, type, member, name, kind, least, most, words, initial, scope, found, encoder, help, ...)         \
    encoder(kind, member, name, least, most, words, help)
#define DECODER_ONLY(...)
#define ENCODER(kind, ...)                                     ENCODER_##kind(__VA_ARGS__)
#define ENCODER_NUMBER(member, name, least, most, words, help) NUMBER(name, params.member, least, most, help)
#define ENCODER_ONE_OF(member, name, least, most, words, help)                                                         \
    {{name, words, help, NTR_OPTION_VALUE, true, least, most}, MEMBER(params.member), NULL, NULL},
#define ENCODER_FLAG(member, name, least, most, words, help)   WORD(name, FLAG, params.member, "off|on", help)
#define ENCODER_SWITCH(member, name, least, most, words, help) WORD(name, FLAG, params.member, "off|on", help)
#define ENCODER_WORD(member, name, least, most, words, help)   WORD(name, VALUE, params.member, words, help)

static const option_row ROWS[] = {
#include "encoder/options.def"
};
#undef MEMBER
#undef WORD
#undef NUMBER
#undef OTHER
#undef NTR_PARAM
#undef DECODER_ONLY
#undef ENCODER
#undef ENCODER_NUMBER
#undef ENCODER_ONE_OF
#undef ENCODER_FLAG
#undef ENCODER_SWITCH
#undef ENCODER_WORD
enum { ROW_COUNT = sizeof ROWS / sizeof *ROWS };

const ntr_encoder_option *ntr_encoder_option_at(size_t index) {
    return index < ROW_COUNT ? &ROWS[index].option : NULL;
}

static const option_row *find(const char *name) {
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (!strcmp(ROWS[i].option.name, name)) return &ROWS[i];
    return NULL;
}

static ntr_status set_row(ntr_encoder_config *config, const option_row *r, const char *value) {
    if (!value && r->option.argument == NTR_OPTION_VALUE) return NTR_E_SYNTAX;
    if (r->set) return r->set(config, value);
    uint64_t number = 1;
    if (r->option.numeric) {
        ntr_status status = parse_number(value, r->option.least, r->option.most, &number);
        if (status != NTR_OK) return status;
        const bool listed = strchr(r->option.value, '|') != NULL; /* the only numbers that are valid */
        if (listed && ntr_choice_find(r->option.value, value, strlen(value)) < 0) return NTR_E_RANGE;
    } else if (value) {
        int place = ntr_choice_find(r->option.value, value, strlen(value));
        if (place < 0) return NTR_E_SYNTAX;
        number = (uint64_t)place;
    }
    ntr_member_set(config, r->offset, r->size, number);
    return NTR_OK;
}

static ntr_status set_option(ntr_encoder_config *config, const char *name, size_t size, const char *value) {
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (strlen(ROWS[i].option.name) == size && !strncmp(ROWS[i].option.name, name, size))
            return set_row(config, &ROWS[i], value);
    return NTR_E_NAME;
}

ntr_status ntr_encoder_option_set(ntr_encoder_config *config, const char *name, const char *value) {
    ntr_encoder_config changed;
    const option_row *r = find(name);
    if (!r) return NTR_E_NAME;
    ntr_status status = ntr_config_load(&changed, sizeof changed, config);
    if (status == NTR_OK) status = set_row(&changed, r, value);
    return status == NTR_OK ? ntr_config_store(config, &changed) : status;
}

static int text_length(int length, size_t capacity) {
    return length >= 0 && (size_t)length >= capacity ? NTR_E_SPACE : length;
}

static int get_row(const ntr_encoder_config *config, const option_row *r, char *out, size_t capacity) {
    if (r->get) return text_length(r->get(config, out, capacity), capacity);
    uint64_t value = ntr_member_get(config, r->offset, r->size);
    if (r->option.numeric) return text_length(snprintf(out, capacity, "%" PRIu64, value), capacity);
    if (r->option.argument == NTR_OPTION_FLAG) value = value == 1; /* a SWITCH has more values than off and on */
    return text_length(word_at(r->option.value, value, out, capacity), capacity);
}

int ntr_encoder_option_get(const ntr_encoder_config *config, const char *name, char *out, size_t capacity) {
    ntr_encoder_config loaded;
    const option_row *r = find(name);
    if (!r) return NTR_E_NAME;
    ntr_status status = ntr_config_load(&loaded, sizeof loaded, config);
    return status == NTR_OK ? get_row(&loaded, r, out, capacity) : (int)status;
}
