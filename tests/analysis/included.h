/* Included three times by a test of mcdc.py, with other names of the function and another comparison each time. */

static int NAMED(find)(const unsigned char *p, int n) {
    if (n > 0 && IS(p, 'x')) return 1;
    if (IS(p, 'y')) return 2;
    return n;
}
