/* oracle [OPTION]... IMAGE < STREAM: print the program counters of a stream, one on each line.
 *
 *   -s BITS  width of SRC          -d NAME  dialect           -r MODE  implicit return (0..3)
 *   -i ID    only this source      -q       sequential jumps  -x       MSB extension
 *   -a       all jumps             -e       print events too  -w BITS  width of the time counter
 *   -k N     depth of the return stack
 * IMAGE is an ELF file, or FILE@ADDRESS for plain bytes. */
#include "../streams/put_address.h"
#include "oracle.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct printer {
    long only; /* source, or -1 */
    bool events, defects;
} printer;

static const char *const kind_name[] = {"pc", "trap", "sync", "stop", "context", "overflow", "lost", "note"};

static void print(void *user, const oracle_event *e) {
    printer *p = user;
    if (p->only >= 0 && e->src != (unsigned)p->only) return;
    p->defects |= e->kind == ORACLE_LOST || e->kind == ORACLE_NOTE;
    if (e->kind == ORACLE_PC) {
        put_address(e->pc, 8);
    } else if (p->events) {
        printf("# %s src=%u offset=%llu code=%u", kind_name[e->kind], e->src, (unsigned long long)e->offset, e->code);
        if (e->known) printf(" pc=0x%llx", (unsigned long long)e->pc);
        if (e->has_time) printf(" time=%llu", (unsigned long long)e->time);
        if (e->kind == ORACLE_CONTEXT)
            printf(" prv=%u v=%u scontext=%llu hcontext=%llu", e->context.prv, e->context.v,
                   (unsigned long long)e->context.scontext, (unsigned long long)e->context.hcontext);
        puts(e->reason ? ntr_status_text(e->reason) : "");
    }
}

static ntr_bytes read_all(FILE *file) {
    size_t size = 0, capacity = 1 << 20, got;
    uint8_t *data = malloc(capacity);
    while (data && (got = fread(data + size, 1, capacity - size, file)) > 0) {
        size += got;
        if (size == capacity) data = realloc(data, capacity *= 2);
    }
    if (!data) abort();
    return (ntr_bytes){data, size};
}

static bool add_image(ntr_program *program, const char *name) {
    const char *at = strrchr(name, '@');
    ntr_image_options options = {.size = sizeof options};
    if (!at) return ntr_program_add_elf(program, name, &options) == NTR_OK;
    char path[4096];
    snprintf(path, sizeof path, "%.*s", (int)(at - name), name);
    options.bias = strtoull(at + 1, NULL, 0);
    FILE *file = fopen(path, "rb");
    if (!file) return false;
    ntr_bytes bytes = read_all(file);
    fclose(file);
    bool good = ntr_program_add_raw(program, bytes, &options) == NTR_OK;
    free((void *)(uintptr_t)bytes.data);
    return good;
}

int main(int argc, char **argv) {
    ntr_params params;
    ntr_params_init(&params, NULL);
    printer out = {.only = -1};
    int option;
    while ((option = getopt(argc, argv, "s:d:r:i:w:k:qxae")) != -1) {
        long value = optarg ? strtol(optarg, NULL, 0) : 0;
        switch (option) {
        case 'd': ntr_params_init(&params, ntr_dialect_find(optarg)); break; /* give it first */
        case 's': params.src_bits = (uint8_t)value; break;
        case 'r': params.implicit_return = (uint8_t)value; break;
        case 'i': out.only = value; break;
        case 'w': params.ts_width = (uint8_t)value; break;
        case 'k': params.return_stack = (uint8_t)value; break;
        case 'q': params.sequential_jump = true; break;
        case 'x': params.extend_addr = true; break;
        case 'a': params.all_jumps = true; break;
        case 'e': out.events = true; break;
        default: return 2;
        }
    }
    ntr_program *program;
    ntr_program_new(NULL, &program);
    if (optind >= argc || !program || !add_image(program, argv[optind])) {
        fprintf(stderr,
                "usage: oracle [-s BITS] [-d NAME] [-r MODE] [-i ID] [-w BITS] [-k N] [-qxae] IMAGE < STREAM\n");
        return 2;
    }
    params.xlen = (uint8_t)ntr_program_xlen(program);
    ntr_bytes stream = read_all(stdin);
    oracle_decode(&(oracle_options){&params, program, print, &out}, stream);
    free((void *)(uintptr_t)stream.data);
    ntr_program_free(program);
    return out.defects ? 1 : 0;
}
