/* Data trace and watchpoints: docs/dialects.md section 5. The bytes are typed from the layout of the messages. */
#include "scene.h"

#define START "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80\n"

static void start(scene *s) {
    scene_start(s, "nexus-data");
    code(s, 0x100, ADD, branch(-4), C_NOP);
}

/* TCODE[6], DSZ[4] and ELSZ[3] and DADDR fill the first bytes; DATA begins a byte of its own. */
static void bytes_of_each_layout(void **state) {
    (void)state;
    scene s;
    start(&s);
    /* DataWriteSync, 4 bytes, ELSZ 3 (4 bytes), DADDR 0x1000, DATA 0x12345678:
     * 13 | 4 << 6 | 3 << 10 | 0x1000 << 13, then DATA */
    decodes_to(&s, START "raw 34 D0 00 00 09 E0 64 14 34 4B\n", "sync 3 100\nwrite 4/4 1000 12345678\n");
    /* DataReadSync, 1 byte, ELSZ 0, DADDR 0x80000004, DATA 0xff */
    decodes_to(&s, START "raw 38 04 20 00 00 00 00 11 FC 0F\n", "sync 3 100\nread 1/1 80000004 ff\n");
    /* Watchpoint, WPHIT 0x5 */
    decodes_to(&s, START "raw 3C 17\n", "sync 3 100\nwatchpoint 5\n");
    scene_end(&s);
}

static void relative_addresses(void **state) {
    (void)state;
    scene s;
    start(&s);
    /* Full addresses, as long as no message proves the opposite. */
    decodes_to(&s, START "DataWrite DSZ=8 ELSZ=0 DADDR=0x1000 DDATA=1\nDataRead DSZ=2 ELSZ=0 DADDR=0x2000 DDATA=2\n",
               "sync 3 100\nwrite 8/8 1000 1\nread 2/2 2000 2\n");
    decodes_to(&s,
               START "DataWriteSync DSZ=8 ELSZ=0 DADDR=0x1000 DDATA=1\nDataRead DSZ=2 ELSZ=0 DADDR=0x8 DDATA=2\n"
                     "DataWrite DSZ=2 ELSZ=1 DADDR=0x3008 DDATA=3\nDataReadSync DSZ=1 ELSZ=0 DADDR=0x7 DDATA=4\n"
                     "DataRead DSZ=1 ELSZ=0 DADDR=0x1 DDATA=5\n",
               "sync 3 100\nwrite 8/8 1000 1\nread 2/2 1008 2\nwrite 2/1 2000 3\nread 1/1 7 4\nread 1/1 6 5\n");
    s.config.params.data_address = NTR_DATA_ADDRESS_FULL;
    decodes_to(&s, START "DataWriteSync DSZ=8 ELSZ=0 DADDR=0x1000 DDATA=1\nDataRead DSZ=2 ELSZ=0 DADDR=0x8 DDATA=2\n",
               "sync 3 100\nwrite 8/8 1000 1\nread 2/2 8 2\n");
    s.config.params.data_address = NTR_DATA_ADDRESS_XOR;
    decodes_to(&s, START "DataWrite DSZ=8 ELSZ=0 DADDR=0x1000 DDATA=1\nDataWriteSync DSZ=2 ELSZ=0 DADDR=0x8 DDATA=2\n",
               "sync 3 100\nwrite 8/8 ? 1\nwrite 2/2 8 2\n");
    scene_end(&s);
}

static void addresses_of_32_bits(void **state) {
    (void)state;
    scene s;
    start(&s);
    s.config.params.xlen = 32;
    decodes_to(&s, START "DataWriteSync DSZ=4 ELSZ=0 DADDR=0x180000000 DDATA=1\n",
               "sync 3 100\nwrite 4/4 80000000 1\n");
    scene_end(&s);
}

static void each_source_has_a_reference(void **state) {
    (void)state;
    scene s;
    start(&s);
    s.config.params.src_bits = 2;
    decodes_to(&s,
               "ProgTraceSync SRC=0 SYNC=3 ICNT=0 FADDR=0x80\nProgTraceSync SRC=1 SYNC=3 ICNT=0 FADDR=0x80\n"
               "DataWriteSync SRC=0 DSZ=8 ELSZ=0 DADDR=0x1000 DDATA=1\nDataRead SRC=1 DSZ=2 ELSZ=0 DADDR=0x8 DDATA=2\n"
               "DataRead SRC=0 DSZ=2 ELSZ=0 DADDR=0x8 DDATA=3\n",
               "sync 3 100\nsync 3 100 src1\nwrite 8/8 1000 1\nread 2/2 8 2 src1\nread 2/2 1008 3\n");
    scene_end(&s);
}

static void a_loss_ends_the_reference(void **state) {
    (void)state;
    scene s;
    start(&s);
    decodes_to(&s,
               START "DataWriteSync DSZ=8 ELSZ=0 DADDR=0x1000 DDATA=1\nError ETYPE=0 ECODE=0x4\n"
                     "DataRead DSZ=2 ELSZ=0 DADDR=0x8 DDATA=2\nDataReadSync DSZ=2 ELSZ=0 DADDR=0x8 DDATA=2\n",
               "sync 3 100\nwrite 8/8 1000 1\noverflow 0 4\nread 2/2 ? 2\nread 2/2 8 2\n"
               "gap OVERFLOW #3-#6 @10-@21 100 to ?\n");
    /* Only data was lost: the flow goes on. */
    decodes_to(&s,
               START "DataWriteSync DSZ=8 ELSZ=0 DADDR=0x1000 DDATA=1\nError ETYPE=0 ECODE=0x2\n"
                     "DataRead DSZ=2 ELSZ=0 DADDR=0x8 DDATA=2\nIndirectBranchHist BTYPE=3 ICNT=4 UADDR=0x0 HIST=0x3\n",
               "sync 3 100\nwrite 8/8 1000 1\noverflow 0 2\nread 2/2 ? 2\nspan 100+2/4 taken 100\n"
               "span 100+0/0 interrupt 100\n");
    /* N-Trace 1.0 does not have this meaning. */
    s.config.params.dialect = NULL;
    decodes_to(&s, START "Error ETYPE=0 ECODE=0x2\n", "sync 3 100\noverflow 0 2\ngap OVERFLOW #2-#3 @4-@6 100 to ?\n");
    scene_end(&s);
}

/* TSTAMP is absolute in DataWriteSync and DataReadSync. */
static void times(void **state) {
    (void)state;
    scene s;
    start(&s);
    decodes_to(
        &s,
        "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80 TSTAMP=100\nDataWrite DSZ=8 ELSZ=0 DADDR=0x1000 DDATA=1 TSTAMP=5\n"
        "DataReadSync DSZ=2 ELSZ=0 DADDR=0x8 DDATA=3 TSTAMP=110\nWatchpoint WPHIT=1 TSTAMP=2\n",
        "sync 3 100 t100\nwrite 8/8 1000 1 t105\nread 2/2 8 3 t110\nwatchpoint 1 t112\n");
    scene_end(&s);
}

static void reserved_in_other_dialects(void **state) {
    (void)state;
    scene s;
    start(&s);
    s.config.params.dialect = NULL;
    decodes_to(&s, START "raw 34 D0 00 00 09 E0 64 14 34 4B\nraw 3C 17\n", "sync 3 100\nvendor 13\nvendor 15\n");
    scene_end(&s);
}

static void damaged(void **state) {
    (void)state;
    scene s;
    start(&s);
    /* No DATA; ends inside ELSZ; DATA of 70 bits. */
    decodes_to(&s, START "raw 34 D0 00 00 0B\n", "sync 3 100\ngap FIELD_MISSING #2-#3 @4-@9 100 to ?\n");
    decodes_to(&s, START "raw 34 33\n", "sync 3 100\ngap FIELD_SPLIT #2-#3 @4-@6 100 to ?\n");
    /* DADDR of more than 64 bits; DDATA may have up to 192 */
    decodes_to(&s, START "raw 34 10 FC FC FC FC FC FC FC FC FC FC FC FC FD 07\n",
               "sync 3 100\ngap FIELD_LONG #2-#3 @4-@20 100 to ?\n");
    decodes_to(&s, START "raw 34 10 01 FC FC FC FC FC FC FC FC FC FC FC FF\n",
               "sync 3 100\nwrite 4/4 0 ffffffffffffffff\n");
    scene_end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_of_each_layout),       cmocka_unit_test(relative_addresses),
        cmocka_unit_test(addresses_of_32_bits),       cmocka_unit_test(each_source_has_a_reference),
        cmocka_unit_test(a_loss_ends_the_reference),  cmocka_unit_test(times),
        cmocka_unit_test(reserved_in_other_dialects), cmocka_unit_test(damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
