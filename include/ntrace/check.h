/* Conformance check: reports which rules of the specification a stream violates.
 *
 * Each rule has an identifier, a section of the specification and a severity. There are rules about single messages,
 * about the sequence of messages of one source, and, with a program, about the execution that the messages describe.
 * The input is bytes; findings are reported by a callback. After damaged bytes and after a message with a defect, the
 * sequence is not checked until the source synchronizes again, so that one error results in one finding.
 * Objects are not thread-safe. */
#ifndef NTRACE_CHECK_H
#define NTRACE_CHECK_H

#include <ntrace/config.h>
#include <ntrace/allocator.h>
#include <ntrace/message.h>
#include <ntrace/program.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ntr_severity {
    NTR_SEVERITY_NOTE,    /* conforming, but decoders may handle it differently, or it is inefficient */
    NTR_SEVERITY_WARNING, /* the specification is ambiguous, or a recommendation is not followed */
    NTR_SEVERITY_ERROR,   /* an encoder that conforms to N-Trace 1.0 does not send this */
} ntr_severity;

typedef struct ntr_check_rule {
    const char *id;       /* "mseo-reserved"; does not change between versions */
    const char *section;  /* section of N-Trace 1.0 */
    const char *about;    /* the rule in one sentence */
    const char *breaking; /* an example of a violation */
    uint8_t severity;     /* ntr_severity */
    uint8_t field;        /* ntr_field of the rule, or NTR_FIELD_NONE */
    const char *statements; /* the statements of the specification that it checks: "NT-154 NT-229" */
} ntr_check_rule;

/* Returns the rule number `index`, or NULL when `index` is past the last one. */
NTR_API const ntr_check_rule *ntr_check_rule_at(size_t index);

/* Returns "note", "warning" or "error". Static storage. */
NTR_API const char *ntr_severity_name(ntr_severity severity);

typedef struct ntr_finding {
    const ntr_check_rule *rule; /* the violated rule */
    size_t index;               /* number of the rule */
    uint8_t severity;           /* ntr_severity of the rule; lower when the encoder of the dialect is known for it */
    uint8_t field;              /* ntr_field with the violation, or NTR_FIELD_NONE */
    uint8_t tcode;
    bool has_source, has_address;
    uint16_t src;
    uint64_t offset, size, message; /* byte offset, size and number of the message; size 0: not known */
    uint64_t address;               /* with a program: address of the execution */
    const ntr_message *at; /* the message, valid during the call; NULL when the finding is about the execution */
} ntr_finding;

typedef struct ntr_check_config {
    size_t size; /* sizeof(ntr_check_config) */
    ntr_params params;
    const ntr_program *program; /* NULL: the execution is not checked */
    const ntr_allocator *allocator;
    void (*found)(void *user, const ntr_finding *finding); /* receives the findings; required */
    void *user;           /* first argument of `found` */
    bool mid_stream;      /* the stream starts inside a message (a wrapped buffer) */
    uint32_t sync_period; /* maximum number of messages between synchronizing messages; 0: not checked */
    bool begins_inside; /* the stream starts with a whole message, but in the middle of the execution: messages before
                         * the first synchronizing one are a note */
} ntr_check_config;

static inline void ntr_check_config_init(ntr_check_config *config) {
    memset(config, 0, sizeof *config);
    config->size = sizeof *config;
    ntr_params_init(&config->params, NULL);
}

typedef struct ntr_check ntr_check;

/* Makes a checker. The program must outlive it. Errors: NTR_E_MEMORY, NTR_E_INVALID (no `found`), those of
 * ntr_params_check. */
NTR_API ntr_status ntr_check_new(const ntr_check_config *config, ntr_check **out);
NTR_API void ntr_check_free(ntr_check *check);

/* Checks the next bytes; a call may end inside a message. `last`: end of the stream. Errors: NTR_E_MEMORY. */
NTR_API ntr_status ntr_check_feed(ntr_check *check, const uint8_t *data, size_t size, bool last);

/* Returns the number of messages checked so far. */
NTR_API uint64_t ntr_check_messages(const ntr_check *check);

#ifdef __cplusplus
}
#endif
#endif
