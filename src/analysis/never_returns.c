#include "analysis/never_returns.h"

#include "base/macros.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
    "abort",
    "exit",
    "_exit",
    "_Exit",
    "quick_exit",
    "__assert_fail",
    "__assert",
    "__assert_func",
    "__stack_chk_fail",
    "__chk_fail",
    "longjmp",
    "_longjmp",
    "siglongjmp",
    "__longjmp_chk",
    "pthread_exit",
    "__cxa_throw",
    "__cxa_rethrow",
    "__cxa_bad_cast",
    "__cxa_bad_typeid",
    "__cxa_throw_bad_array_new_length",
    "__cxa_pure_virtual",
    "_Unwind_Resume",
    "_ZSt9terminatev",
};

/* Functions of libstdc++ that throw an exception: std::__throw_length_error(char const*) is
 * _ZSt20__throw_length_errorPKc. */
static bool throws(const char *name) {
    if (strncmp(name, "_ZSt", 4) != 0) return false;
    name += 4;
    while (*name >= '0' && *name <= '9') name++;
    return strncmp(name, "__throw_", 8) == 0;
}

/* Returns whether debug information describes the function at `place`, and stores what it says. */
static bool is_declared(ntr_debug_info *debug, ntr_place place, bool *never_returns) {
    ntr_frame frames[NTR_FRAMES_MAX];
    const size_t count = ntr_debug_info_frames(debug, place, frames, NTR_FRAMES_MAX);
    if (count == 0 || frames[count - 1].entry != place.address || !frames[count - 1].declared_line) return false;
    *never_returns = frames[count - 1].never_returns;
    return true;
}

/* Sorted. Functions that gcc knows, that do not throw, and that always return to their caller. */
static const char *const plain[] = {
    "abs",         "acos",           "acosh",    "aligned_alloc",
    "asin",        "asinh",          "atan",     "atan2",
    "atanh",       "bcmp",           "bcopy",    "bzero",
    "calloc",      "cbrt",           "ceil",     "copysign",
    "cos",         "cosh",           "erf",      "erfc",
    "exp",         "exp10",          "exp2",     "expm1",
    "fabs",        "fdim",           "ffs",      "floor",
    "fma",         "fmax",           "fmin",     "fmod",
    "free",        "frexp",          "hypot",    "ilogb",
    "imaxabs",     "index",          "isalnum",  "isalpha",
    "isascii",     "isblank",        "iscntrl",  "isdigit",
    "isgraph",     "islower",        "isprint",  "ispunct",
    "isspace",     "isupper",        "iswalnum", "iswalpha",
    "iswblank",    "iswcntrl",       "iswdigit", "iswgraph",
    "iswlower",    "iswprint",       "iswpunct", "iswspace",
    "iswupper",    "iswxdigit",      "isxdigit", "j0",
    "j1",          "labs",           "ldexp",    "lgamma",
    "llabs",       "llrint",         "llround",  "log",
    "log10",       "log1p",          "log2",     "logb",
    "lrint",       "lround",         "malloc",   "memccpy",
    "memchr",      "memcmp",         "memcpy",   "memmove",
    "mempcpy",     "memset",         "modf",     "nearbyint",
    "nextafter",   "posix_memalign", "pow",      "realloc",
    "remainder",   "remquo",         "rindex",   "rint",
    "round",       "scalbln",        "scalbn",   "sin",
    "sinh",        "snprintf",       "sprintf",  "sqrt",
    "sscanf",      "stpcpy",         "stpncpy",  "strcasecmp",
    "strcat",      "strchr",         "strcmp",   "strcpy",
    "strcspn",     "strdup",         "strftime", "strlen",
    "strncasecmp", "strncat",        "strncmp",  "strncpy",
    "strndup",     "strnlen",        "strpbrk",  "strrchr",
    "strspn",      "strstr",         "tan",      "tanh",
    "tgamma",      "toascii",        "tolower",  "toupper",
    "towlower",    "towupper",       "trunc",    "vsnprintf",
    "vsprintf",    "vsscanf",        "y0",       "y1",
};

static int compare_name(const void *name, const void *item) {
    return strcmp(name, *(const char *const *)item);
}

static bool is_plain(const char *name) {
    return bsearch(name, plain, NTR_COUNT(plain), sizeof *plain, compare_name) != NULL;
}

bool ntr_always_returns(const ntr_program *program, ntr_place place) {
    enum { PLAIN_NAME_SIZE = 24 };
    char name[PLAIN_NAME_SIZE];
    ntr_symbol symbol;
    if (ntr_program_symbol(program, place, &symbol) != NTR_OK || symbol.address != place.address) return false;
    const char *given = symbol.name + strspn(symbol.name, "_");
    if (strncmp(given, "GI_", 3) == 0) given += 3; /* __GI_strlen, and __strlen: names inside of the C library */
    const size_t length = strcspn(given, "@");
    if (!length || length >= sizeof name) return false;
    memcpy(name, given, length);
    name[length] = '\0';
    if (is_plain(name)) return true;
    const char last = name[length - 1]; /* sinf, sinl */
    name[length - 1] = '\0';
    return (last == 'f' || last == 'l') && is_plain(name);
}

bool ntr_never_returns(const ntr_program *program, ntr_debug_info *debug, ntr_place place) {
    ntr_symbol symbol;
    bool never_returns;
    if (debug && is_declared(debug, place, &never_returns)) return never_returns;
    if (ntr_program_symbol(program, place, &symbol) != NTR_OK || symbol.address != place.address) return false;
    const size_t length = strcspn(symbol.name, "@"); /* abort@plt */
    for (size_t i = 0; i < NTR_COUNT(names); i++)
        if (strlen(names[i]) == length && strncmp(symbol.name, names[i], length) == 0) return true;
    return throws(symbol.name);
}
