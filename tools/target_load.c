/* A static command loads no library: one of a system with another C library than that of the build ends it with a
 * signal. These functions take the place of the C library's for the callers that a build without LOADED (tools/target)
 * still has: libdw, which looks for libdebuginfod, and the demangler of C++, which looks for libstdc++. Each continues
 * without the library. */
#include <stddef.h>

void *dlopen(const char *name, int mode);
void *dlsym(void *library, const char *name);
int dlclose(void *library);
char *dlerror(void);

void *dlopen(const char *name, int mode) {
    (void)name, (void)mode;
    return NULL;
}

void *dlsym(void *library, const char *name) {
    (void)library, (void)name;
    return NULL;
}

int dlclose(void *library) {
    (void)library;
    return 0;
}

char *dlerror(void) {
    return "a static command loads no library";
}
