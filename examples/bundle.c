/* Counts the instructions of a capture bundle, whose stream may be compressed.
 *
 *     bundle BUNDLE.ntrace */
#include <ntrace/tools.h>

#include <inttypes.h>
#include <stdio.h>

static int count(ntr_bundle *bundle, ntr_program *program) {
    ntr_stream_reader *stream;
    ntr_counts counts = {0};
    ntr_bytes piece;
    bool last = false;

    if (ntr_bundle_load(bundle, program) || ntr_bundle_stream_open(bundle, &stream))
        return fprintf(stderr, "%s\n", ntr_bundle_error(bundle)), 1;
    ntr_decoder_config config;
    ntr_decoder_config_init(&config);
    config.params = ntr_bundle_capture(bundle)->params;
    config.program = program;
    ntr_decoder *decoder;
    ntr_decoder_new(&config, &decoder);
    while (decoder && !last) {
        if (ntr_stream_reader_next(stream, &piece, &last)) fprintf(stderr, "%s\n", ntr_stream_reader_error(stream));
        ntr_decoder_feed(decoder, piece.data, piece.size, last);
        ntr_decoder_count(decoder, &counts);
    }
    printf("%" PRIu64 " instructions, %" PRIu64 " gaps\n", counts.instructions, counts.gaps);
    ntr_decoder_free(decoder);
    ntr_stream_reader_free(stream);
    return decoder ? 0 : 1;
}

int main(int argc, char **argv) {
    if (argc != 2) return fprintf(stderr, "usage: bundle BUNDLE.ntrace\n"), 2;
    ntr_bundle *bundle;
    ntr_bundle_new(NULL, &bundle);
    ntr_program *program;
    ntr_program_new(NULL, &program);
    int status = 1;
    if (ntr_bundle_open(bundle, argv[1]) == NTR_OK)
        status = count(bundle, program);
    else
        fprintf(stderr, "%s\n", ntr_bundle_error(bundle));
    ntr_program_free(program);
    ntr_bundle_free(bundle);
    return status;
}
