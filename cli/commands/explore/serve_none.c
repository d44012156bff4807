#include "commands/explore/serve.h"
#include "options/diagnostics.h"

int explore_serve(struct explore_session *sessions, size_t count, const struct explore_options *options) {
    (void)sessions, (void)count, (void)options;
    return cli_fail(
        "this build has no server (it needs libmicrohttpd, which static builds cannot load); 'ntrace report' "
        "writes a page, and --ask prints answers");
}
