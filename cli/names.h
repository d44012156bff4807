/* Words for the codes of the specification. */
#ifndef CLI_NAMES_H
#define CLI_NAMES_H

/* "periodic" for SYNC 2; "reserved" and "vendor" where the specification says so. `code` 0..15. */
const char *cli_sync_name(unsigned code);

/* "entry into debug mode" for EVCODE 0. */
const char *cli_evcode_name(unsigned code);

#endif
