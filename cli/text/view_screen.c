#include "text/view_screen.h"
#include "text/symbol_text.h"

#include <inttypes.h>
#include <locale.h>
#include <ncurses.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { KEY_ESCAPE_CODE = 27, SMALLEST_LINES = 6, SMALLEST_COLUMNS = 40 };

/* A rectangle of the screen. */
struct pane {
    int top, left, lines, columns;
};

/* Writes one line of a pane, cut to its width; control characters become blanks. */
static void put(const struct pane *pane, int line, int attributes, const char *text, size_t size) {
    char clean[1024];
    int width = pane->columns < (int)sizeof clean ? pane->columns : (int)sizeof clean - 1;
    int at = 0;

    if (line < 0 || line >= pane->lines || width <= 0) return;
    for (size_t i = 0; i < size && at < width; i++) {
        if (text[i] == '\t') do
                clean[at++] = ' ';
            while (at % 4 && at < width);
        else
            clean[at++] = (unsigned char)text[i] < ' ' ? ' ' : text[i];
    }
    while (at < width) clean[at++] = ' ';
    clean[at] = 0;
    attrset(attributes);
    mvaddnstr(pane->top + line, pane->left, clean, width);
    attrset(A_NORMAL);
}

static void put_text(const struct pane *pane, int line, int attributes, const char *text) {
    put(pane, line, attributes, text, strlen(text));
}

/* ---- the panes */

static void draw_source(const struct cli_view *view, const struct pane *pane) {
    const ntr_frame *line = &view->walk->line;
    ntr_bytes text = {0};
    char title[512], row[1024];

    snprintf(title, sizeof title, " %s", line->file ? line->file : "no source");
    for (char *at = title; *at; at++)
        if (*at == '\n' || *at == '\t') *at = '?';
    put_text(pane, 0, A_REVERSE, title);
    if (!line->file || !cli_source_text_read(view->source, line->file, &text)) {
        put_text(pane, 2, A_NORMAL, line->file ? " (the file is not on this machine)" : " (no line information here)");
        return;
    }
    const uint32_t half = (uint32_t)(pane->lines / 2), first = line->line > half ? line->line - half : 1;
    uint32_t number = 1;
    for (size_t at = 0; at < text.size && number < first + (uint32_t)pane->lines - 1; number++) {
        const uint8_t *end = memchr(text.data + at, '\n', text.size - at);
        size_t size = end ? (size_t)(end - text.data) - at : text.size - at;
        if (number >= first) {
            int width = snprintf(row, sizeof row, "%c%5" PRIu32 " %.*s", number == line->line ? '>' : ' ', number,
                                 size < 900 ? (int)size : 900, (const char *)text.data + at);
            put(pane, 1 + (int)(number - first), number == line->line ? A_BOLD | A_REVERSE : A_NORMAL, row,
                (size_t)width);
        }
        at += size + 1;
    }
}

/* Returns the address of the instruction `count` before `address` in its function, or the entry if there are less. */
static uint64_t before(const ntr_line_walk *w, uint64_t address, int count) {
    uint64_t ring[64], at;
    ntr_symbol symbol;
    ntr_insn insn;
    size_t seen = 0;

    if (ntr_program_symbol(w->program, ntr_place_at(&w->hart.context, w->hart.offset, address), &symbol) != NTR_OK)
        return address;
    for (at = symbol.address; at < address; at += insn.size) {
        ring[seen++ % 64] = at;
        if (ntr_program_insn(w->program, ntr_place_at(&w->hart.context, w->hart.offset, at), &insn) < 0) return address;
    }
    if (at != address || !seen) return address;
    return seen < (size_t)count ? symbol.address : ring[(seen - (size_t)count) % 64];
}

/* The place in its function: the name that the source has, if it is another one than that of the symbol. */
static void put_place(const ntr_line_walk *w, char symbol[CLI_SYMBOL_MAX + 1]) {
    ntr_frame f;

    *cli_put_symbol(symbol, " ", "", w->program, ntr_place_at(&w->hart.context, w->hart.offset, w->hart.address)) = 0;
    if (ntr_debug_info_function(w->debug, ntr_place_at(&w->hart.context, w->hart.offset, w->hart.address), &f) !=
            NTR_OK ||
        !f.function || !f.linkage || strcmp(f.function, f.linkage) == 0 || w->hart.address < f.entry)
        return;
    const uint64_t inside = w->hart.address - f.entry;
    if (inside)
        snprintf(symbol, CLI_SYMBOL_MAX + 1, " %s+0x%" PRIx64, f.function, inside);
    else
        snprintf(symbol, CLI_SYMBOL_MAX + 1, " %s", f.function);
}

static void draw_code(const struct cli_view *view, const struct pane *pane) {
    const ntr_line_walk *w = view->walk;
    uint64_t at = before(w, w->hart.address, pane->lines / 3);
    char row[512], symbol[CLI_SYMBOL_MAX + 1] = "";

    put_place(w, symbol);
    put_text(pane, 0, A_REVERSE, *symbol ? symbol : " code");
    for (int line = 1; line < pane->lines; line++) {
        uint8_t bytes[8];
        ntr_insn insn;
        size_t size =
            ntr_program_read(w->program, ntr_place_at(&w->hart.context, w->hart.offset, at), bytes, sizeof bytes);
        if (!size || ntr_program_insn(w->program, ntr_place_at(&w->hart.context, w->hart.offset, at), &insn) < 0) break;
        unsigned isa = ntr_program_isa(w->program, ntr_place_at(&w->hart.context, w->hart.offset, at));
        const char *text =
            view->disasm ? cli_disasm_text(view->disasm, bytes, insn.size < size ? insn.size : size, isa) : "";
        snprintf(row, sizeof row, "%c%" PRIx64 "  %s", at == w->hart.address ? '>' : ' ', at, *text ? text : "...");
        put_text(pane, line, at == w->hart.address ? A_BOLD | A_REVERSE : A_NORMAL, row);
        at += insn.size;
    }
}

static void draw_stack(const struct cli_view *view, const struct pane *pane) {
    const ntr_line_walk *w = view->walk;
    uint64_t address = w->hart.address, lookup = address;
    uint32_t number = w->hart.frame;
    ntr_stack_frame frame;

    put_text(pane, 0, A_REVERSE, " call stack");
    for (int line = 1; line < pane->lines; line++) {
        ntr_frame frames[NTR_FRAMES_MAX];
        char row[512], place[64] = "";
        size_t count = ntr_debug_info_frames(w->debug, ntr_place_at(&w->hart.context, w->hart.offset, lookup), frames,
                                             NTR_FRAMES_MAX);
        const ntr_frame *shown = count ? &frames[count - 1] : NULL;
        if (shown && shown->line) snprintf(place, sizeof place, ":%" PRIu32, shown->line);
        snprintf(row, sizeof row, "#%-2d %s%s", line - 1, shown && shown->function ? shown->function : "?", place);
        put_text(pane, line, line == 1 ? A_BOLD : A_NORMAL, row);
        if (!ntr_replay_frame(w->replay, number, &frame, &number) || !number) break;
        address = frame.return_to;
        lookup = address - 1;
    }
}

static void draw_place(const struct cli_view *view, const struct pane *pane) {
    const ntr_line_walk *w = view->walk;
    const uint64_t position = ntr_replay_position(w->replay);
    const unsigned per_cent = view->total ? (unsigned)(100.0 * (double)position / (double)view->total) : 0;
    char row[512], time[40] = "";

    if (w->hart.timed) snprintf(time, sizeof time, " t:%" PRIu64, w->hart.time);
    snprintf(row, sizeof row, " %u%%  instruction %" PRIu64 " of %" PRIu64 "  #%" PRIu64 " @0x%" PRIx64 "%s%s",
             per_cent, position, view->total, w->hart.message, w->hart.offset, time, w->hart.ended ? "  end" : "");
    put_text(pane, 0, A_REVERSE, row);
    if (*view->note)
        snprintf(row, sizeof row, "%s", view->note);
    else if (w->behind_gap)
        snprintf(row, sizeof row, " %" PRIu64 " bytes lost here (message #%" PRIu64 "): %s",
                 w->gap.gap.until - w->gap.offset, w->gap.message, ntr_status_text((ntr_status)w->gap.reason));
    else
        snprintf(row, sizeof row, "%s",
                 " s step n next f finish i insn l gap (capitals: back) /? find g goto 0-9% q quit");
    put_text(pane, 1, A_NORMAL, row);
}

static void draw(const struct cli_view *view) {
    const int lines = LINES - 2, left = COLS / 2, upper = lines * 3 / 5;
    const struct pane source = {0, 0, lines, left - 1}, code = {0, left, upper, COLS - left},
                      stack = {upper, left, lines - upper, COLS - left}, place = {lines, 0, 2, COLS};

    erase();
    if (LINES < SMALLEST_LINES || COLS < SMALLEST_COLUMNS) {
        mvaddnstr(0, 0, "the window is too small", COLS);
    } else {
        draw_source(view, &source);
        draw_code(view, &code);
        draw_stack(view, &stack);
        draw_place(view, &place);
    }
    refresh();
}

/* ---- keys */

static void block_resize(bool block) {
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGWINCH);
    sigprocmask(block ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
}

/* Waits for a key or another size (KEY_RESIZE); ERR at the end of the input. SIGWINCH is blocked except
 * while this waits: one that came between a look at the size and the wait would show only at the next key.
 * A terminal that became smaller and then as large as before has lost what it showed, and ncurses sees the
 * size that it knows: after each signal, all is drawn again. */
static int next_key(void) {
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    sigset_t mask;
    int key, bytes;

    sigprocmask(SIG_SETMASK, NULL, &mask);
    sigdelset(&mask, SIGWINCH);
    while ((key = getch()) == ERR) {
        const int ready = ppoll(&input, 1, NULL, &mask);
        if (ready < 0) {
            key = getch(); /* before the screen is cleared: ncurses looks at the size here */
            clearok(curscr, TRUE);
            return key == ERR ? KEY_RESIZE : key;
        }
        if (ready > 0 && (ioctl(STDIN_FILENO, FIONREAD, &bytes) != 0 || !bytes)) break;
    }
    return key;
}

/* Reads a line in the last row. Returns false when it is cancelled. */
static bool read_line(const struct cli_view *view, const char *prompt, char *text, size_t room) {
    size_t size = 0;

    for (;;) {
        text[size] = 0;
        move(LINES - 1, 0);
        clrtoeol();
        mvprintw(LINES - 1, 0, "%s%s", prompt, text);
        int key = next_key();
        if (key == '\n' || key == KEY_ENTER) return true;
        if (key == KEY_ESCAPE_CODE || key == ERR) return false;
        if (key == KEY_RESIZE) draw(view);
        if ((key == KEY_BACKSPACE || key == 127 || key == '\b') && size)
            size--;
        else if (key >= ' ' && key < 127 && size + 1 < room)
            text[size++] = (char)key;
    }
}

static void say(struct cli_view *view, const char *text) {
    snprintf(view->note, sizeof view->note, " %s", text);
}

static void search(struct cli_view *view, const char *what, bool backward) {
    const char *why = ntr_line_walk_search(view->walk, what, backward);

    if (why) say(view, why);
}

static void ask(struct cli_view *view, const char *prompt, bool backward) {
    char text[128];

    if (read_line(view, prompt, text, sizeof text)) search(view, text, backward);
}

static void go_per_cent(struct cli_view *view, unsigned per_cent) {
    char text[16];

    snprintf(text, sizeof text, "%u%%", per_cent);
    search(view, text, false);
}

/* A click in the last but one line goes to this part of the trace. */
static void click(struct cli_view *view) {
    MEVENT event;

    if (getmouse(&event) == OK && event.y == LINES - 2 && COLS > 1)
        go_per_cent(view, (unsigned)(100 * event.x / (COLS - 1)));
}

static void move_by(struct cli_view *view, int key) {
    static const char keys[] = "isnf"; /* in the order of ntr_line_move */
    const bool backward = key >= 'A' && key <= 'Z';
    const char *found = key > 0 && key < 127 ? strchr(keys, backward ? key - 'A' + 'a' : key) : NULL;

    if (!found || !*found) return;
    if (!ntr_line_walk_move(view->walk, (ntr_line_move)(found - keys), backward))
        say(view, *found == 'f' ? "the caller is not known"
                  : backward    ? "the beginning of the trace"
                                : "the end of the trace");
}

static void go_to_gap(struct cli_view *view, bool backward) {
    const char *why = ntr_line_walk_gap(view->walk, backward);

    if (why) say(view, why);
}

/* Returns false to quit. */
static bool press(struct cli_view *view, int key) {
    if (key == KEY_RESIZE) return true; /* what was said stays */
    view->note[0] = 0;
    switch (key) {
    case 'q':
    case ERR: return false;
    case '/': ask(view, "/", false); break;
    case '?': ask(view, "?", true); break;
    case 'g': ask(view, "goto #MESSAGE, @OFFSET, t:TIME or N%: ", false); break;
    case 'l': go_to_gap(view, false); break;
    case 'L': go_to_gap(view, true); break;
    case KEY_HOME: go_per_cent(view, 0); break;
    case KEY_END: go_per_cent(view, 100); break;
    case KEY_MOUSE: click(view); break;
    default:
        if (key >= '0' && key <= '9')
            go_per_cent(view, (unsigned)(key - '0') * 10);
        else
            move_by(view, key);
        break;
    }
    return true;
}

bool cli_view_run(struct cli_view *view, const char **why) {
    SCREEN *screen;

    setlocale(LC_CTYPE, "");
    block_resize(true);
    screen = newterm(NULL, stdout, stdin);
    if (!screen) {
        block_resize(false);
        *why = "the terminal is not known (TERM)";
        return false;
    }
    cbreak();
    noecho();
    keypad(stdscr, TRUE);
    curs_set(0);
    nodelay(stdscr, TRUE);
    mousemask(BUTTON1_CLICKED | BUTTON1_PRESSED, NULL);
    do draw(view);
    while (press(view, next_key()));
    endwin();
    delscreen(screen);
    block_resize(false);
    return true;
}
