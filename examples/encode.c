/* Encodes an execution, given as a list of program counters, and prints the messages.
 *
 *     encode PROGRAM.elf <PCS.txt
 *
 * PCS.txt has the hexadecimal address of each retired instruction, one a line, in the order of execution. */
#include <ntrace/ingress.h>
#include <ntrace/ntrace.h>

#include <inttypes.h>
#include <stdio.h>

/* Called by the encoder with each whole message. */
static ntr_status print_message(void *user, const uint8_t *bytes, size_t size) {
    const ntr_params *params = user;
    static uint64_t offset, number;
    static char line[NTR_MESSAGE_TEXT_MAX];
    ntr_message message;
    ntr_status status = ntr_message_decode(params, (ntr_bytes){bytes, size}, &message);
    message.offset = offset;
    message.number = ++number;
    offset += size;
    if (status == NTR_OK && ntr_message_format(params, &message, line, sizeof line) > 0) puts(line);
    return status;
}

static ntr_status push_all(ntr_classifier *classifier) {
    uint64_t pc;
    ntr_status status = NTR_OK;
    while (status == NTR_OK && scanf("%" SCNx64, &pc) == 1) status = ntr_classifier_push(classifier, pc);
    return status;
}

int main(int argc, char **argv) {
    ntr_program *program;
    ntr_program_new(NULL, &program);
    if (argc != 2) return fprintf(stderr, "usage: encode PROGRAM.elf <PCS.txt\n"), 2;
    if (ntr_program_add_elf(program, argv[1], NULL) != NTR_OK)
        return fprintf(stderr, "%s\n", ntr_program_error(program)), 1;

    ntr_encoder_config config;
    ntr_encoder_config_init(&config); /* HTM; ntr_encoder_option_set changes it by name */
    config.sink = print_message;
    config.sink_user = &config.params;
    ntr_encoder *encoder;
    if (ntr_encoder_new(&config, &encoder)) return 1;

    ntr_classifier_config classes;
    ntr_classifier_config_init(&classes);
    classes.program = program;
    classes.encoder = encoder;
    ntr_classifier *classifier;
    if (ntr_classifier_new(&classes, &classifier)) return 1;

    uint64_t next;
    ntr_status status = push_all(classifier);
    if (status != NTR_OK) fprintf(stderr, "%s\n", ntr_classifier_error(classifier));
    if (status == NTR_OK) status = ntr_classifier_finish(classifier, &next);
    if (status == NTR_OK) status = ntr_encoder_stop(encoder, next, NTR_EVCODE_DISABLED);
    ntr_classifier_free(classifier);
    ntr_encoder_free(encoder);
    ntr_program_free(program);
    return status == NTR_OK ? 0 : 1;
}
