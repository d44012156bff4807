/* Uses configs of the public interface as a program does. Compiled against headers in which they are shorter or longer,
 * it must run with the library as it is. */
#include <ntrace/ntrace.h>
#include <stdio.h>

static const uint8_t STREAM[] = {0x24, 0x0d, 0x00, 0x0b, 0x0c, 0x0f};
static const uint8_t CODE[] = {0x01, 0x00, 0x01, 0x00, 0xf5, 0xbf, 0x01, 0x00}; /* C.NOP, C.NOP, C.J -4, C.NOP */

static ntr_status print_bytes(void *user, const uint8_t *bytes, size_t size) {
    (void)user;
    for (size_t i = 0; i < size; i++) printf("%02x", bytes[i]);
    puts("");
    return NTR_OK;
}

static int decode(void) {
    ntr_program *program;
    ntr_program_new(NULL, &program);
    ntr_image_options image;
    ntr_image_options_init(&image);
    image.bias = 0x100;
    image.has_isa = true;
    if (ntr_program_add_raw(program, (ntr_bytes){CODE, sizeof CODE}, &image) != NTR_OK) return 1;
    ntr_decoder_config config;
    ntr_decoder_config_init(&config);
    config.program = program;
    ntr_decoder *decoder;
    ntr_decoder_new(&config, &decoder);
    ntr_counts counts = {0};
    if (!decoder || ntr_decoder_feed(decoder, STREAM, sizeof STREAM, true) != NTR_OK) return 1;
    if (ntr_decoder_count(decoder, &counts) != NTR_END) return 1;
    printf("%llu messages\n", (unsigned long long)counts.messages);
    ntr_decoder_free(decoder);
    ntr_program_free(program);
    return 0;
}

static int encode(void) {
    ntr_encoder_config config;
    ntr_encoder_config_init(&config);
    config.sink = print_bytes;
    if (ntr_encoder_option_set(&config, "mode", "btm") != NTR_OK) return 1;
    ntr_encoder *encoder;
    ntr_encoder_new(&config, &encoder);
    const ntr_ingress block = {.iaddr = 0x100, .iretire = 2, .ilastsize = 0, .priv = NTR_PRIV_M, .cycle = true};
    if (!encoder || ntr_encoder_push(encoder, &block) != NTR_OK) return 1;
    if (ntr_encoder_stop(encoder, 0x104, 0) != NTR_OK) return 1;
    ntr_encoder_free(encoder);
    return 0;
}

int main(void) {
    return decode() || encode();
}
