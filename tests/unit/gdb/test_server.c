/* The server over a short trace: stops, registers, memory and monitor commands. */
#include "session.h"

static void expect(session *s, const char *packet, const char *text) {
    const char *answer = ask(s, packet);
    if (!strstr(answer, text)) fail_msg("%s: expected '%s' in '%s'", packet, text, answer);
}

#define PC(address) "20:" address "000000000000;"

static void steps(void **state) {
    (void)state;
    static session s;
    begin(&s);
    expect(&s, "?", "$T05thread:1;" PC("0010"));
    expect(&s, "vCont;s:1", PC("0011"));
    expect(&s, "vCont;s:1;c", PC("0411"));
    expect(&s, "bs", PC("0011"));
    expect(&s, "vCont;r1100,1118:1", PC("0410")); /* until it leaves the function */
    expect(&s, "bc", PC("0010"));
    expect(&s, "bs", "replaylog:begin;");
    expect(&s, "vCont;c", "replaylog:end;");
    end(&s);
}

static void breakpoints(void **state) {
    (void)state;
    static session s;
    begin(&s);
    expect(&s, "Z0,1108,4", "$OK#");
    expect(&s, "Z1,1004,4", "$OK#");
    expect(&s, "Z2,1004,4", "$#00");
    expect(&s, "vCont;c", PC("0811"));
    assert_non_null(strstr(s.answer, "swbreak:;"));
    expect(&s, "vCont;c", PC("0410"));
    assert_non_null(strstr(s.answer, "hwbreak:;"));
    expect(&s, "vCont;c", "replaylog:end;");
    expect(&s, "bc", PC("0410"));
    expect(&s, "z1,1004,4", "$OK#");
    expect(&s, "bc", PC("0811"));
    expect(&s, "bc", "replaylog:begin;");
    end(&s);
}

static void registers_and_memory(void **state) {
    (void)state;
    static session s;
    begin(&s);
    expect(&s, "vCont;s:1", PC("0011"));
    expect(&s, "p1", "$0410000000000000#"); /* ra: the call returns to 0x1004 */
    expect(&s, "p0", "$0000000000000000#");
    expect(&s, "pa", "$xxxxxxxxxxxxxxxx#");
    expect(&s, "m1100,4", "$130101ff#");
    expect(&s, "m5000,4", "$E01#");
    expect(&s, "P1=0", "$E.a recorded execution cannot be changed#");
    expect(&s, "g",
           "$0000000000000000"
           "0410000000000000");
    end(&s);
}

static void monitor_commands(void **state) {
    (void)state;
    static session s;
    const char *text;
    begin(&s);
    assert_int_equal(ntr_gdb_monitor(s.gdb, "goto 3", &text), NTR_OK);
    assert_string_equal(text, "hart 0: instruction 3 at 0x1108\n");
    assert_int_equal(ntr_gdb_monitor(s.gdb, "caller", &text), NTR_OK);
    assert_string_equal(text, "hart 0: instruction 0 at 0x1000\n");
    assert_int_equal(ntr_gdb_monitor(s.gdb, "goto 3", &text), NTR_OK);
    assert_int_equal(ntr_gdb_monitor(s.gdb, "return", &text), NTR_OK);
    assert_string_equal(text, "hart 0: instruction 7 at 0x1004\n");
    assert_int_equal(ntr_gdb_monitor(s.gdb, "hits 0x1108", &text), NTR_OK);
    assert_string_equal(text,
                        "0x1108 was executed 1 times; first as instruction 3, last as instruction 3 of the trace\n");
    assert_int_equal(ntr_gdb_monitor(s.gdb, "next-gap", &text), NTR_OK);
    assert_string_equal(text, "no gap after this place\n");
    assert_int_equal(ntr_gdb_monitor(s.gdb, "goto nowhere", &text), NTR_E_INVALID);
    assert_int_equal(ntr_gdb_monitor(s.gdb, "fly", &text), NTR_E_INVALID);
    end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(steps), TEST(breakpoints), TEST(registers_and_memory),
                                       TEST(monitor_commands)};
    return cmocka_run_group_tests_name("server", tests, NULL, NULL);
}
