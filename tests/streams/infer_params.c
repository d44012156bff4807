/* infer_params TRACE [ELF[@BIAS]...]: what ntr_infer says of a stream, one parameter a line. For the corpus tests. */
#include <ntrace/infer.h>
#include <ntrace/ntrace.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint8_t *read_all(const char *path, size_t *size) {
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    uint8_t *data = NULL;
    size_t capacity = 0, n;
    *size = 0;
    if (!file) return NULL;
    do {
        if (*size == capacity) data = realloc(data, capacity = capacity ? 2 * capacity : 1 << 20);
        n = data ? fread(data + *size, 1, capacity - *size, file) : 0;
        *size += n;
    } while (n);
    if (file != stdin) fclose(file);
    return data;
}

static bool add_image(ntr_program *program, char *file) {
    ntr_image_options image = {.size = sizeof image};
    char *at = strchr(file, '@');
    if (at) {
        *at = 0;
        image.bias = strtoull(at + 1, NULL, 0);
    }
    return ntr_program_add_elf(program, file, &image) == NTR_OK;
}

static void print(const char *name, const ntr_choice *c) {
    printf("%s: %s, %s: %s\n", name, c->value, ntr_confidence_name(c->confidence), c->evidence);
}

int main(int argc, char **argv) {
    size_t size;
    uint8_t *data = argc > 1 ? read_all(argv[1], &size) : NULL;
    if (!data) return 2;
    ntr_program *program;
    ntr_program_new(NULL, &program);
    for (int i = 2; i < argc; i++)
        if (!add_image(program, argv[i])) return 2;
    ntr_infer_config config = {.size = sizeof config, .program = argc > 2 ? program : NULL};
    static ntr_inference inference;
    ntr_status status = ntr_infer(&config, (ntr_bytes){data, size}, &inference);
    for (unsigned p = 0; p < NTR_PARAMETERS && status == NTR_OK; p++)
        print(ntr_parameter_name(p), &inference.choices[p]);
    if (status == NTR_OK) print("mode", &inference.mode);
    ntr_program_free(program);
    free(data);
    return status != NTR_OK;
}
