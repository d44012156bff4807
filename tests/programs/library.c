/* A library that is loaded, unloaded and loaded again while the program runs. */
#include <dlfcn.h>
#include <stdio.h>

int main(void) {
    for (int round = 0; round < 2; round++) {
        void *math = dlopen("libm.so.6", RTLD_NOW);
        double (*root)(double) = math ? (double (*)(double))dlsym(math, "cbrt") : NULL;
        if (!root) return puts(dlerror()), 1;
        printf("%.3f\n", root(27.0 + round));
        dlclose(math);
    }
    return 0;
}
