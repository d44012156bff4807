/* Counts the instructions of a bundle, whose stream may be compressed: bundle BUNDLE.ntrace. docs/bundle.md explains it. */
#include <ntrace/tools.h>
#include <stdio.h>

int main(int argc, char **argv) {
    ntr_bundle *bundle = ntr_bundle_new(NULL);
    ntr_program *program = ntr_program_new(NULL);
    ntr_stream_reader *stream;
    ntr_counts counts = {0};
    ntr_bytes span;
    bool last = false;

    if (argc != 2) {
        fprintf(stderr, "usage: bundle BUNDLE.ntrace\n");
        return 2;
    }
    if (ntr_bundle_open(bundle, argv[1]) || ntr_bundle_load(bundle, program) || ntr_bundle_stream_open(bundle, &stream)) {
        fprintf(stderr, "%s\n", ntr_bundle_error(bundle));
        return 1;
    }
    ntr_decoder_config config;
    ntr_decoder_config_init(&config);
    config.params = ntr_bundle_capture(bundle)->params;
    config.program = program;
    ntr_decoder *decoder = ntr_decoder_new(&config, NULL);
    while (!last) {
        if (ntr_stream_reader_next(stream, &span, &last)) fprintf(stderr, "%s\n", ntr_stream_reader_error(stream));
        ntr_decoder_feed(decoder, span.data, span.size, last);
        ntr_decoder_count(decoder, &counts);
    }
    printf("%llu instructions, %llu gaps\n", (unsigned long long)counts.instructions, (unsigned long long)counts.gaps);
    ntr_decoder_free(decoder);
    ntr_stream_reader_free(stream);
    ntr_program_free(program);
    ntr_bundle_free(bundle);
}
