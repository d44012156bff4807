/* Packets and their answers, by the chapter "GDB Remote Serial Protocol" of GDB's manual: what is malformed has an
 * error, what is unknown an empty answer, and reading the trace backwards visits the same places. */
#include "session.h"

/* Returns the last packet of the answer, without acknowledgement and checksum. The sums of all packets, of which those
 * before are output for the console, must be right. */
static const char *protocol_ask(session *s, const char *packet) {
    char *at = (char *)(uintptr_t)ask(s, packet), *begin_of_last = NULL;
    if (*at == '+') at++;
    while (*at) {
        uint8_t sum = 0;
        char digits[3];
        begin_of_last = at + 1;
        if (*at++ != '$') fail_msg("%s: no packet: '%s'", packet, s->answer);
        for (; *at && *at != '#'; at++) sum = (uint8_t)(sum + (uint8_t)*at);
        snprintf(digits, sizeof digits, "%02x", sum);
        if (strncmp(at, "#", 1) != 0 || strncmp(at + 1, digits, 2) != 0)
            fail_msg("%s: wrong sum: '%s'", packet, s->answer);
        *at = 0;
        at += 3;
        if (*at) assert_int_equal(begin_of_last[0], 'O');
    }
    assert_non_null(begin_of_last);
    return begin_of_last;
}

static void protocol_expect(session *s, const char *packet, const char *expected) {
    const char *answer = protocol_ask(s, packet);
    if (strcmp(answer, expected) != 0) fail_msg("%s: expected '%s', found '%s'", packet, expected, answer);
}

static const struct {
    const char *packet, *answer;
} protocol_packets[] = {
    /* threads */
    {"qC", "QC1"},
    {"qfThreadInfo", "m1"},
    {"qsThreadInfo", "l"},
    {"qThreadExtraInfo,1", "686172742030"}, /* hart 0 */
    {"qThreadExtraInfo,2", "E01"},
    {"qThreadExtraInfo,", "E01"},
    {"T1", "OK"},
    {"T2", "E01"},
    {"T", "E01"},
    {"Hg0", "OK"},
    {"Hg1", "OK"},
    {"Hg-1", "OK"},
    {"Hc1", "OK"},
    {"Hc-1", "OK"},
    {"Hg2", "E01"},
    {"Hg", "E01"},
    {"H", "E01"},
    {"Hx1", "E01"},
    /* resuming */
    {"vCont?", "vCont;c;C;s;S;t;r"},
    {"vCont", "E01"},
    {"vCont;", "E01"},
    {"vCont;x", "E01"},
    {"vCont;C", "E01"},
    {"vCont;S:1", "E01"},
    {"vCont;s:2", "E01"},
    {"vCont;s:", "E01"},
    {"vCont;s:1:1", "E01"},
    {"vCont;r1000:1", "E01"},
    {"vCont;r1000,:1", "E01"},
    {"vCont;t:1", "E01"}, /* nothing resumes */
    {"vContx", "E01"},
    {"s1000", "E.a recorded execution cannot be changed"},
    {"c1000", "E.a recorded execution cannot be changed"},
    /* breakpoints */
    {"Z0", "E01"},
    {"Z0,", "E01"},
    {"Z0,1000", "E01"},
    {"Z0,1000,", "E01"},
    {"Z0,g,4", "E01"},
    {"z1,10000000000000000,4", "E01"}, /* 65 bits */
    {"z0,1000,4", "OK"},
    {"Z2,1000,4", ""},
    {"Z3,1000,4", ""},
    {"Z", ""},
    /* memory */
    {"m1000,4", "ef000010"},
    {"m1001,2", "0000"},
    {"m1008,40", "6f000000"}, /* the end of the image */
    {"mfffffffffffffffe,4", "E01"},
    {"m1000", "E01"},
    {"m1000,", "E01"},
    {"m,4", "E01"},
    {"m1000,4x", "E01"},
    {"m", "E01"},
    {"M1000,1:00", "E.a recorded execution cannot be changed"},
    {"X1000,0:", "E.a recorded execution cannot be changed"},
    /* registers */
    {"p0", "0000000000000000"},
    {"p20", "0010000000000000"},
    {"p3", "xxxxxxxxxxxxxxxx"},
    {"p21", "E01"}, /* f0: the program has no floating point */
    {"p44", "E01"},
    {"pffffffffffffffff", "E01"},
    {"p", "E01"},
    {"p1x", "E01"},
    {"G00", "E.a recorded execution cannot be changed"},
    /* objects */
    {"qXfer:features:read:target.xml:0,5", "m<?xml"},
    {"qXfer:features:read:target.xml:2,3", "mxml"},
    {"qXfer:features:read:target.xml:100000,5", "E01"},
    {"qXfer:features:read:target.xml:0", "E01"},
    {"qXfer:features:read:target.xml:0,5x", "E01"},
    {"qXfer:features:read:target.xml:,5", "E01"},
    {"qXfer:features:read", ""},
    {"qXfer:features:write:target.xml:0:x", ""},
    {"qXfer:osdata:read::0,5", ""},
    {"qXfer:auxv:read::0,100", "l"}, /* no ELF file */
    {"qXfer:exec-file:read:1:0,100", "l"},
    {"qXfer:libraries:read::0,100", "l<library-list>\n</library-list>\n"},
    {"qXfer:threads:read::0,100",
     "l<?xml version=\"1.0\"?>\n<threads>\n<thread id=\"1\">hart 0</thread>\n</threads>\n"},
    /* others */
    {"qAttached", "1"},
    {"qAttached:1", "1"},
    {"qSymbol::", "OK"},
    {"qOffsets", ""},
    {"qRcmd,zz", "E01"},
    {"qRcmd,6", "E01"},
    {"vMustReplyEmpty", ""},
    {"qTStatus", ""},
    {"!", ""},
    {"", ""},
};

static void protocol_answers(void **state) {
    (void)state;
    static session s;
    begin(&s);
    for (size_t i = 0; i < sizeof protocol_packets / sizeof *protocol_packets; i++)
        protocol_expect(&s, protocol_packets[i].packet, protocol_packets[i].answer);
    assert_non_null(strstr(protocol_ask(&s, "?"), "20:0010000000000000;")); /* nothing has moved */
    end(&s);
}

/* LLDB asks for what no other debugger does. What it takes for values must be values. Numbers of registers: psABI
 * specification, "DWARF Register Numbers"; 11451 is LLVM's. */
static void protocol_lldb(void **state) {
    (void)state;
    static session s;
    begin(&s);
    assert_null(strstr(protocol_ask(&s, "qXfer:features:read:target.xml:0,1fff"), "regnum"));
    assert_null(strstr(protocol_ask(&s, "?"), "library"));
    end(&s);
    begin(&s);
    protocol_expect(&s, "QThreadSuffixSupported", "");
    assert_non_null(strstr(protocol_ask(&s, "?"), "library:;"));
    const char *description = protocol_ask(&s, "qXfer:features:read:target.xml:0,1fff");
    assert_non_null(strstr(description,
                           "<reg name=\"pc\" bitsize=\"64\" type=\"code_ptr\" regnum=\"32\" dwarf_regnum=\"11451\" "
                           "ehframe_regnum=\"11451\" generic=\"pc\"/>"));
    assert_non_null(
        strstr(description, "<reg name=\"ra\" bitsize=\"64\" type=\"code_ptr\" regnum=\"1\" dwarf_regnum=\"1\""));
    assert_non_null(strstr(description, "<reg name=\"a0\" bitsize=\"64\" type=\"int\" regnum=\"10\""));
    protocol_expect(&s, "p3", "E01");
    protocol_expect(&s, "p0", "0000000000000000");
    protocol_expect(&s, "Z0,1108,2", "OK");
    assert_non_null(strstr(protocol_ask(&s, "c"), "20:0811000000000000;"));
    end(&s);
}

/* The errors of vFile are those of the chapter "File-I/O Remote Protocol Extension". */
static void protocol_files(void **state) {
    (void)state;
    static session s;
    begin(&s);
    protocol_expect(&s, "vFile:setfs:0", "F0");
    protocol_expect(&s, "vFile:open:2f6574632f706173737764,0,0", "F-1,2"); /* /etc/passwd: no file of an image */
    protocol_expect(&s, "vFile:open:2f6574632f706173737764,1,0", "F-1,2");
    protocol_expect(&s, "vFile:open:2f,0", "F-1,16");
    protocol_expect(&s, "vFile:open:2,0,0", "F-1,16");
    protocol_expect(&s, "vFile:open:002f,0,0", "F-1,16");
    protocol_expect(&s, "vFile:pread:0,10,0", "F-1,9");
    protocol_expect(&s, "vFile:close:ffffffffffffffff", "F-1,9");
    protocol_expect(&s, "vFile:fstat:", "F-1,9");
    protocol_expect(&s, "vFile:unlink:2f", "F-1,d");
    protocol_expect(&s, "vFile:other:", "");
    end(&s);
}

/* A debugger reads objects in pieces. */
static void protocol_objects_in_pieces(void **state) {
    (void)state;
    static session s;
    static char whole[8192];
    begin(&s);
    for (size_t piece = 1; piece < 2000; piece = piece * 3 + 7) {
        char packet[128];
        size_t size = 0, registers = 0;
        for (bool more = true; more;) {
            snprintf(packet, sizeof packet, "qXfer:features:read:target.xml:%zx,%zx", size, piece);
            const char *answer = protocol_ask(&s, packet);
            more = answer[0] == 'm';
            assert_true(more ? strlen(answer) == piece + 1 : answer[0] == 'l' && strlen(answer) <= piece + 1);
            assert_true(size + strlen(answer) < sizeof whole);
            strcpy(whole + size, answer + 1);
            size += strlen(answer + 1);
        }
        for (const char *at = whole; (at = strstr(at, "<reg ")) != NULL; at++) registers++;
        assert_int_equal(registers, 33);
        assert_non_null(strstr(whole, "<architecture>riscv:rv64</architecture>"));
        assert_string_equal(whole + size - strlen("</target>\n"), "</target>\n");
    }
    end(&s);
}

static const char protocol_supported[] = "PacketSize=";

static void protocol_acknowledgements(void **state) {
    (void)state;
    static session s;
    begin(&s);
    assert_string_equal(ask(&s, "qC"), "+$QC1#c5");
    s.size = 0;
    assert_int_equal(ntr_gdb_feed(s.gdb, "$qC#b5", 6), NTR_OK); /* a wrong sum */
    assert_string_equal(s.answer, "-");
    s.size = 0;
    assert_int_equal(ntr_gdb_feed(s.gdb, "-", 1), NTR_OK);
    assert_string_equal(s.answer, "$QC1#c5"); /* the answer again */
    s.size = 0;
    assert_int_equal(ntr_gdb_feed(s.gdb, "+\3+", 3), NTR_OK);
    assert_int_equal(s.size, 0);
    assert_memory_equal(protocol_ask(&s, "qSupported:swbreak+"), protocol_supported, strlen(protocol_supported));
    assert_string_equal(ask(&s, "QStartNoAckMode"), "+$OK#9a");
    assert_string_equal(ask(&s, "qC"), "$QC1#c5");
    s.size = 0;
    assert_int_equal(ntr_gdb_feed(s.gdb, "$qC#b5", 6), NTR_OK);
    assert_string_equal(s.answer, "$E01#a6");
    end(&s);
}

static void protocol_ends(void **state) {
    (void)state;
    static const struct {
        const char *packet, *answer;
    } ends[] = {{"$D#44", "+$OK#9a"}, {"$D;1#b0", "+$OK#9a"}, {"$vKill;1#6e", "+$OK#9a"}, {"$k#6b", "+"}};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        static session s;
        begin(&s);
        assert_int_equal(ntr_gdb_feed(s.gdb, ends[i].packet, strlen(ends[i].packet)), NTR_END);
        s.answer[s.size] = 0;
        assert_string_equal(s.answer, ends[i].answer);
        assert_int_equal(ntr_gdb_feed(s.gdb, "$qC#b4", 6), NTR_END); /* nothing more is answered */
        assert_string_equal(s.answer, ends[i].answer);
        end(&s);
    }
}

/* ---- forward and backward */

/* Returns the pc of a stop. */
static unsigned protocol_pc(const char *stop) {
    const char *at = strstr(stop, ";20:");
    unsigned low = 0, high = 0;
    if (!at || sscanf(at, ";20:%2x%2x", &low, &high) != 2) fail_msg("no pc in '%s'", stop);
    return low | high << 8;
}

/* The last instruction jumps to itself: the last place is the one after it. */
static const unsigned protocol_path[] = {0x1000, 0x1100, 0x1104, 0x1108, 0x110c,
                                         0x1110, 0x1114, 0x1004, 0x1008, 0x1008};
enum { PROTOCOL_PATH = sizeof protocol_path / sizeof *protocol_path, PROTOCOL_HITS = PROTOCOL_PATH - 1 };

static void protocol_steps_both_ways(void **state) {
    (void)state;
    static session s;
    begin(&s);
    for (int round = 0; round < 2; round++) {
        const char *stop = protocol_ask(&s, "?");
        for (size_t i = 0; i < PROTOCOL_PATH; i++) {
            assert_int_equal(protocol_pc(stop), protocol_path[i]);
            stop = protocol_ask(&s, round ? "s" : "vCont;s:1");
        }
        assert_non_null(strstr(stop, "replaylog:end;"));
        for (size_t i = PROTOCOL_HITS; i-- > 0;) {
            stop = protocol_ask(&s, "bs");
            assert_int_equal(protocol_pc(stop), protocol_path[i]);
        }
        assert_null(strstr(stop, "replaylog"));
        assert_non_null(strstr(protocol_ask(&s, "bs"), "replaylog:begin;"));
    }
    end(&s);
}

/* Each place is hit once in each direction, by software and by hardware breakpoints. */
static void protocol_breakpoints_both_ways(void **state) {
    (void)state;
    for (int hardware = 0; hardware < 2; hardware++) {
        static session s;
        char packet[64];
        begin(&s);
        for (size_t i = 1; i < PROTOCOL_HITS; i += 2) {
            snprintf(packet, sizeof packet, "Z%d,%x,4", hardware, protocol_path[i]);
            protocol_expect(&s, packet, "OK");
        }
        for (size_t i = 1; i < PROTOCOL_HITS; i += 2) {
            const char *stop = protocol_ask(&s, i % 4 == 1 ? "c" : "vCont;c");
            assert_int_equal(protocol_pc(stop), protocol_path[i]);
            assert_non_null(strstr(stop, hardware ? "hwbreak:;" : "swbreak:;"));
        }
        assert_non_null(strstr(protocol_ask(&s, "c"), "replaylog:end;"));
        for (size_t i = PROTOCOL_HITS - 2; i < PROTOCOL_HITS; i -= 2) {
            const char *stop = protocol_ask(&s, "bc");
            assert_int_equal(protocol_pc(stop), protocol_path[i]);
            assert_non_null(strstr(stop, hardware ? "hwbreak:;" : "swbreak:;"));
        }
        assert_non_null(strstr(protocol_ask(&s, "bc"), "replaylog:begin;"));
        end(&s);
    }
}

/* ra is that of the call inside of the called function; outside it is 0, where a debugger's backtrace ends. */
static void protocol_return_address(void **state) {
    (void)state;
    static session s;
    begin(&s);
    for (size_t i = 0; i < PROTOCOL_PATH; i++) {
        assert_int_equal(protocol_pc(protocol_ask(&s, "?")), protocol_path[i]);
        protocol_expect(&s, "p1", protocol_path[i] >= 0x1100 ? "0410000000000000" : "0000000000000000");
        (void)protocol_ask(&s, "s");
    }
    end(&s);
}

/* ---- steps that a debugger predicts: breakpoints that are new at the wrong successor of a branch. 0x1000: add; branch
 * to 0x100c, taken; 0x1008: add; 0x100c: add; 0x1010: jump to itself. */

static void protocol_begin_branch(session *s) {
    memset(s, 0, sizeof *s);
    scene_start(&s->scene, NULL);
    code(&s->scene, 0x1000, ADD, branch(8), ADD, ADD, jal(0, 0));
    serve(s, "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x800\nDirectBranch ICNT=4\n"
             "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=4\n");
    assert_int_equal(protocol_pc(protocol_ask(s, "s")), 0x1004);
}

static void protocol_predicted_step(void **state) {
    (void)state;
    static session s;
    protocol_begin_branch(&s);
    protocol_expect(&s, "Z0,1008,2", "OK");
    assert_int_equal(protocol_pc(protocol_ask(&s, "c")), 0x100c); /* one step, where execution went */
    assert_non_null(strstr(protocol_ask(&s, "c"), "replaylog:end;"));
    end(&s);
}

static void protocol_old_breakpoint_is_no_prediction(void **state) {
    (void)state;
    static session s;
    protocol_begin_branch(&s);
    protocol_expect(&s, "Z0,1008,2", "OK");
    (void)protocol_ask(&s, "bs"); /* resumes with the breakpoint */
    assert_int_equal(protocol_pc(protocol_ask(&s, "s")), 0x1004);
    assert_non_null(strstr(protocol_ask(&s, "c"), "replaylog:end;"));
    end(&s);
}

/* A debugger without an OS ABI steps off a breakpoint without its breakpoints, and then sets them all again. */
static void protocol_no_prediction_without_abi(void **state) {
    (void)state;
    static session s;
    protocol_begin_branch(&s);
    (void)protocol_ask(&s, "qXfer:libraries:read::0,fff");
    protocol_expect(&s, "Z0,1008,2", "OK");
    assert_non_null(strstr(protocol_ask(&s, "c"), "replaylog:end;"));
    end(&s);
}

/* It was removed for a whole resume: set again, it is new. */
static void protocol_removed_breakpoint_is_new(void **state) {
    (void)state;
    static session s;
    protocol_begin_branch(&s);
    protocol_expect(&s, "Z0,1008,2", "OK");
    (void)protocol_ask(&s, "bs");
    protocol_expect(&s, "z0,1008,2", "OK");
    assert_int_equal(protocol_pc(protocol_ask(&s, "s")), 0x1004);
    protocol_expect(&s, "Z0,1008,2", "OK");
    assert_int_equal(protocol_pc(protocol_ask(&s, "c")), 0x100c);
    end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(protocol_answers),
        TEST(protocol_lldb),
        TEST(protocol_files),
        TEST(protocol_objects_in_pieces),
        TEST(protocol_acknowledgements),
        TEST(protocol_ends),
        TEST(protocol_steps_both_ways),
        TEST(protocol_breakpoints_both_ways),
        TEST(protocol_return_address),
        TEST(protocol_predicted_step),
        TEST(protocol_old_breakpoint_is_no_prediction),
        TEST(protocol_no_prediction_without_abi),
        TEST(protocol_removed_breakpoint_is_new),
    };
    return cmocka_run_group_tests_name("protocol", tests, NULL, NULL);
}
