#include "analysis/never_returns.h"

#include "base/macros.h"

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
