/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the screens have, from above:
 *
 *     title          which guest, how long, which boot
 *     facts          rate, idle share and losses; how busy the loop is
 *     state          the filter being typed, an error, the zoomed function, ...
 *     columns
 *     rows ...
 *     keys
 *
 * A narrow screen omits the bar, then columns from the right, and shortens the
 * rest: a row's name and its share are always shown. Colours repeat what the
 * numbers say. Printed tables have the same columns.
 */

#define _GNU_SOURCE /* wcwidth() */
#define NCURSES_WIDECHAR 1

#include "top/show.h"

#include "base/log.h"
#include "base/text.h"
#include "trace/metadata.h"

#include <curses.h>
#include <langinfo.h>
#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#define LINE_BYTES 1024
#define FOOT_LINES 1
#define BAR_CELLS 12
#define RED_PERCENT 5.0
#define GREEN_PERCENT 0.5

/* Screens of so many columns have totals; samples per second and bars; and of
 * sites calls and pending tasks, longest runs and delays, and bars. */
#define TOTAL_COLUMNS 34
#define RATE_COLUMNS 58
#define BAR_COLUMNS 76
#define CALLS_COLUMNS 50
#define LONG_COLUMNS 72
#define SITE_BAR_COLUMNS 92

enum { LINE_TITLE, LINE_FACTS, LINE_STATE, LINE_COLUMNS, LINE_ROWS };

struct column {
    const char *title;
    int width;
    int from;           /* columns of the narrowest screen that has it */
    enum top_sort sort; /* of the numbers in it */
};

/* The first two columns of a form are the shares. */
struct form {
    const struct column *columns;
    size_t count;
    int bar_from;
    const char *name; /* of the last column */
    const char *printed_name;
    const char *rows;
};

static const struct column function_columns[] = {
    {"Self", 6, 0, TOP_BY_SELF},
    {"Total", 9, TOTAL_COLUMNS, TOP_BY_TOTAL},
    {"Samples/s", 11, RATE_COLUMNS, TOP_BY_CALLS},
};
static const struct form function_form = {
    function_columns, 3, BAR_COLUMNS, "Function", "Symbol", "functions",
};

static const struct column site_columns[] = {
    {"Self", 6, 0, TOP_BY_SELF},
    {"Total", 9, TOTAL_COLUMNS, TOP_BY_TOTAL},
    {"Calls/s", 11, CALLS_COLUMNS, TOP_BY_CALLS},
    {"Pending", 9, CALLS_COLUMNS, TOP_BY_PENDING},
    {"Longest ms", 12, LONG_COLUMNS, TOP_BY_LONGEST},
    {"Delay ms", 10, LONG_COLUMNS, TOP_BY_DELAY},
};
static const struct form site_form = {
    site_columns, 6, SITE_BAR_COLUMNS, "Site", "Site", "sites",
};

/* Writes what (row) has between its shares and its name, on a screen of
 * (width), to (text). */
static void put_numbers(const struct form *form, const struct top_row *row,
                        int width, char *text, size_t room)
{
    size_t used = 0;

    *text = '\0';
    for (size_t i = 2; i < form->count; ++i) {
        const struct column *column = &form->columns[i];
        char *at = text + used;

        if (width < column->from)
            continue;
        if (column->sort == TOP_BY_PENDING)
            snprintf(at, room - used, "%*u", column->width,
                     (unsigned)row->pending);
        else
            snprintf(at, room - used, "%*.*f", column->width,
                     column->sort == TOP_BY_CALLS ? 1 : 3,
                     column->sort == TOP_BY_CALLS     ? row->rate
                     : column->sort == TOP_BY_LONGEST ? row->longest_ms
                                                      : row->delay_ms);
        used += strlen(at);
    }
}

enum screen_look {
    SCREEN_PLAIN,
    SCREEN_HOT, /* a large share */
    SCREEN_WARM,
    SCREEN_BAD, /* something is wrong */
};

static enum screen_look heat_of(double percent)
{
    return percent >= RED_PERCENT     ? SCREEN_HOT
           : percent >= GREEN_PERCENT ? SCREEN_WARM
                                      : SCREEN_PLAIN;
}

/* ---- text */

static void print_percent(double percent, bool color)
{
    static const char *const begins[] = {
        [SCREEN_HOT] = "\033[31m", [SCREEN_WARM] = "\033[32m"};
    enum screen_look heat = heat_of(percent);

    if (color && heat != SCREEN_PLAIN)
        printf("%s%7.2f%%\033[m", begins[heat], percent);
    else
        printf("%7.2f%%", percent);
}

/* The number of the boot, if it is not the first, and a (remark), unless that
 * is empty. */
static void print_remarks(unsigned boots, const char *remark)
{
    if (boots > 1)
        printf("# boot %u of the guest\n", boots);
    if (*remark == '\0')
        return;
    fputs("# ", stdout);
    printable_put(stdout, remark);
    putchar('\n');
}

static void print_columns(const struct form *form)
{
    fputs("#\n#", stdout);
    for (size_t i = 0; i < form->count; ++i)
        printf("%*s", form->columns[i].width, form->columns[i].title);
    printf("  %s\n", form->printed_name);
}

/* The first (limit) rows, and the sum of the others. */
static bool print_rows(const struct form *form, const struct top_row *rows,
                       size_t count, size_t limit, bool color)
{
    char numbers[LINE_BYTES];
    double rest = 0;
    int width = 0;

    for (size_t i = 0; i < count; ++i) {
        const struct top_row *row = &rows[i];

        if (i >= limit) {
            rest += row->self;
            continue;
        }
        print_percent(row->self, color);
        putchar(' ');
        print_percent(row->total, color);
        put_numbers(form, row, INT_MAX, numbers, sizeof numbers);
        printf("%s  ", numbers);
        printable_put(stdout, row->name);
        putchar('\n');
    }
    for (size_t i = 1; i < form->count; ++i)
        width += form->columns[i].width;
    if (count > limit) {
        print_percent(rest, color);
        printf("%*sin %zu more %s\n", width + 2, "", count - limit, form->rows);
    }
    putchar('\n');
    return fflush(stdout) == 0;
}

/* Instead of a table in which nothing is known. */
static bool print_beginning(const char *why, const struct live *live,
                            unsigned boots)
{
    if (log_quiet)
        return true;
    printf("# warming up: %s\n", why);
    print_remarks(boots, live->why);
    return fflush(stdout) == 0;
}

/* What is known of the guest. */
static void print_guest(const struct top_model *top)
{
    const struct model *model = &top->live->model;
    const char *image = top->report.view.names.image != NULL
                            ? top->report.view.image.path
                            : NULL;

    fputs("# ", stdout);
    if (image != NULL) {
        printable_put(stdout, path_name(image));
        fputs(", ", stdout);
    }
    if (model->hello.version != 0)
        printf("%s, ", metadata_arch(&model->hello));
    if (model->rate_mhz > 0)
        printf("%g Hz, %u callers, ", model->rate_mhz / 1000.0,
               (unsigned)model->depth);
    printf("%.1f s\n", top_model_seconds(top));
}

static void print_head(const struct top_model *top)
{
    char lost[NUMBER_TEXT_MAX], missed[NUMBER_TEXT_MAX];

    if (log_quiet)
        return;
    print_guest(top);
    printf("# %.1f samples/s, %.1f %% idle, %.1f %% stolen, %s lost, %s "
           "missed; recent shares of %s\n",
           top_model_rate(top), top->idle, top_model_stolen(top),
           number_count(top_model_lost(top), lost),
           number_count(top_model_missed(top), missed),
           view_weight_name(&top->report.view));
    if (*top->busy != '\0')
        printf("# busy: %s\n", top->busy);
    if (top->report.view.has_cpu)
        printf("# shares and idle time are those of CPU %u alone\n",
               (unsigned)top->report.view.cpu);
    print_remarks(top->live->boots, top->live->why);
    print_columns(&function_form);
}

bool top_print(const struct top_model *top, size_t rows, bool color)
{
    unsigned boots = top->live->boots;

    if (boots == 0 || top->warms_up)
        return print_beginning(boots == 0 ? live_silence(top->live)
                                          : TOP_WARMS_UP,
                               top->live, boots);
    print_head(top);
    return print_rows(&function_form, top->rows, top->count, rows, color);
}

static void print_sites_head(const struct top_sites *top)
{
    char remark[256];

    if (log_quiet)
        return;
    printf("# %.1f %% busy: %.1f %% tasks, %.1f %% callbacks, %.1f %% "
           "interrupts; recent shares of time\n",
           top_sites_busy(top), top_sites_part(top, OCCUPANCY_TASKS),
           top_sites_part(top, OCCUPANCY_CALLBACKS),
           top_sites_part(top, OCCUPANCY_INTERRUPTS));
    print_remarks(top->boots, top_sites_remark(top, remark, sizeof remark));
    print_remarks(0, top->live->why);
    print_columns(&site_form);
}

bool top_print_sites(const struct top_sites *top, size_t rows, bool color)
{
    if (top_sites_warm_up(top))
        return print_beginning(top_sites_silence(top), top->live, top->boots);
    print_sites_head(top);
    return print_rows(&site_form, top->rows, top->count, rows, color);
}

/* ---- the terminal: lines that never exceed its width, shares, keys */

#define ESCAPE_MS 50 /* after which Esc is not the start of a sequence */

static bool opened, colored, blocks;

void screen_open(bool color)
{
    setlocale(LC_CTYPE, "");
    if (newterm(NULL, stdout, stdin) == NULL)
        die("unknown terminal type '%s'; use --stdio",
            getenv("TERM") != NULL ? getenv("TERM") : "");
    opened = true;
    blocks = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    colored = color && has_colors();
    if (colored) {
        start_color();
        use_default_colors();
        init_pair(SCREEN_HOT, COLOR_RED, -1);
        init_pair(SCREEN_WARM, COLOR_GREEN, -1);
        init_pair(SCREEN_BAD, COLOR_YELLOW, -1);
    }
    cbreak();
    noecho();
    curs_set(0);
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    set_escdelay(ESCAPE_MS);
}

void screen_close(void)
{
    if (opened)
        endwin();
    opened = false;
}

/* The attributes of (look) on this terminal. */
static attr_t screen_look(enum screen_look look)
{
    attr_t bold = look == SCREEN_HOT || look == SCREEN_BAD ? A_BOLD : A_NORMAL;

    return colored ? bold | (attr_t)COLOR_PAIR(look) : bold;
}

/* Text at the cursor, cut after (columns) columns or at the screen's edge. */
static void screen_text(const char *text, int columns)
{
    int left = COLS - getcurx(stdscr);
    size_t bytes = strlen(text);
    mbstate_t state = {0};

    left = columns < left ? columns : left;
    while (bytes > 0) {
        wchar_t letter;
        size_t used = mbrtowc(&letter, text, bytes, &state);
        int width;

        if (used == 0 || used > bytes) { /* not a character of this locale */
            state = (mbstate_t){0};
            letter = L'?';
            used = 1;
        }
        width = wcwidth(letter);
        if (width > left)
            return;
        if (width > 0)
            addnwstr(&letter, 1);
        left -= width > 0 ? width : 0;
        text += used;
        bytes -= used;
    }
}

/* Line (y): (text), then blanks. */
static void screen_line(int y, attr_t look, const char *text)
{
    if (y >= LINES)
        return;
    attrset(look);
    mvhline(y, 0, (chtype)(' ' | look), COLS);
    move(y, 0);
    screen_text(text, COLS);
    attrset(A_NORMAL);
}

/* The same, with (right) at its end if there is room for both. */
static void screen_ends(int y, attr_t look, const char *left, const char *right)
{
    int at = COLS - (int)strlen(right) - 1;

    screen_line(y, look, left);
    if (y >= LINES || at <= getcurx(stdscr) || getcury(stdscr) != y)
        return;
    attrset(look);
    move(y, at);
    screen_text(right, COLS);
    attrset(A_NORMAL);
}

/* A bar of (percent) in line (y), with room for (cells), one column before the
 * screen's edge, in eighths of a cell where these can be drawn. */
static void screen_bar(int y, double percent, int cells)
{
    static const char *const eighths[] = {"",       "\u258f", "\u258e",
                                          "\u258d", "\u258c", "\u258b",
                                          "\u258a", "\u2589"};
    int parts = (int)(percent / 100 * cells * 8 + 0.5);
    int whole = blocks ? parts / 8 : (parts + 4) / 8;

    move(y, COLS - cells - 1);
    for (int i = 0; i < whole; ++i)
        screen_text(blocks ? "\u2588" : "#", 1);
    if (blocks)
        screen_text(eighths[parts % 8], 1);
}

int screen_key(void)
{
    static const struct {
        int curses;
        int key;
    } keys[] = {
        {KEY_UP, TOP_KEY_UP},           {KEY_DOWN, TOP_KEY_DOWN},
        {KEY_PPAGE, TOP_KEY_PAGE_UP},   {KEY_NPAGE, TOP_KEY_PAGE_DOWN},
        {KEY_HOME, TOP_KEY_HOME},       {KEY_END, TOP_KEY_END},
        {KEY_LEFT, TOP_KEY_LEFT},       {KEY_RIGHT, TOP_KEY_RIGHT},
        {KEY_ENTER, TOP_KEY_ENTER},     {'\r', TOP_KEY_ENTER},
        {KEY_BACKSPACE, TOP_KEY_ERASE}, {'\b', TOP_KEY_ERASE},
    };
    int typed = getch();

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; ++i) {
        if (keys[i].curses == typed)
            return keys[i].key;
    }
    return typed == ERR ? -1 : typed < 256 ? typed : 0;
}

/* ---- the screen */

size_t top_page(void)
{
    int rows = LINES - LINE_ROWS - FOOT_LINES;

    return rows > 0 ? (size_t)rows : 1;
}

/* The title, and at its end the number of the boot, if it is not the first,
 * and (seconds). */
static void draw_title(const char *title, unsigned boots, double seconds)
{
    char right[64] = "";
    size_t used;

    if (boots > 1)
        snprintf(right, sizeof right, "boot %u  ", boots);
    used = strlen(right);
    snprintf(right + used, sizeof right - used, "%.1f s", seconds);
    screen_ends(LINE_TITLE, A_REVERSE, title, right);
}

/* The facts, and on a (wide) screen what time they are of. */
static void draw_facts(attr_t look, const char *text, bool wide,
                       const struct top_ui *ui)
{
    screen_ends(LINE_FACTS, look, text,
                !wide             ? ""
                : ui->since_reset ? "since the reset"
                                  : "recent");
}

/* The filter being typed, or what is wrong; else (text). */
static void draw_state(struct live *live, unsigned boots, attr_t look,
                       const char *text, const struct top_ui *ui)
{
    char problem[LINE_BYTES] = "";

    if (ui->typing)
        snprintf(problem, sizeof problem, " /%s_%s%s", ui->typed,
                 ui->problem[0] != '\0' ? "  " : "", ui->problem);
    else if (live->why[0] != '\0')
        snprintf(problem, sizeof problem, " %s", live->why);
    else if (boots == 0)
        snprintf(problem, sizeof problem, " %s", live_silence(live));
    else if (log_last()[0] != '\0')
        snprintf(problem, sizeof problem, " %s", log_last());
    if (*problem != '\0') {
        look = screen_look(SCREEN_BAD);
        text = problem;
    }
    screen_ends(LINE_STATE, look, text, ui->paused ? "PAUSED" : "");
}

/* The name of a column, with a star if rows are sorted by it. */
static size_t put_column(char *text, size_t room, int width, const char *title,
                         bool sorted)
{
    char starred[32];

    snprintf(starred, sizeof starred, "%s%s", sorted ? "*" : "", title);
    return (size_t)snprintf(text, room, "%*s", width, starred);
}

static void draw_columns(const struct form *form, const struct top_ui *ui)
{
    bool calls = top_zoomed(ui) != NULL;
    char text[LINE_BYTES] = " ";
    size_t used = 1;

    for (size_t i = 0; i < form->count; ++i) {
        const struct column *column = &form->columns[i];
        bool is_share = calls && column->sort == TOP_BY_SELF;

        if (COLS < column->from || (calls && column->sort == TOP_BY_TOTAL))
            continue;
        used += put_column(text + used, sizeof text - used, column->width,
                           is_share ? "Share" : column->title,
                           !is_share && ui->sort == column->sort);
    }
    used += put_column(text + used, sizeof text - used, 2, "", false);
    put_column(text + used, sizeof text - used, 0, form->name,
               ui->sort == TOP_BY_NAME);
    screen_line(LINE_COLUMNS, A_UNDERLINE, text);
}

/* A row: its shares, its numbers, its name, and a bar. */
static void draw_row(const struct form *form, int y, const struct top_row *row,
                     const struct top_ui *ui)
{
    static const char *const signs[] = {
        [TOP_ROW] = "", [TOP_CALLER] = "<- ", [TOP_CALLEE] = "-> "};
    attr_t chosen = row == &ui->rows[ui->selected] ? A_REVERSE : A_NORMAL;
    double share = ui->sort == TOP_BY_TOTAL ? row->total : row->self;
    bool has_bar = COLS >= form->bar_from;
    char text[LINE_BYTES];

    screen_line(y, chosen, "");
    snprintf(text, sizeof text, "%6.2f%%", row->self);
    attrset(screen_look(heat_of(row->self)) | chosen);
    move(y, 0);
    screen_text(text, COLS);
    if (COLS >= TOTAL_COLUMNS && row->kind == TOP_ROW) {
        snprintf(text, sizeof text, "%8.2f%%", row->total);
        attrset(screen_look(heat_of(row->total)) | chosen);
        screen_text(text, COLS);
    }
    attrset(chosen);
    put_numbers(form, row, COLS, text, sizeof text);
    screen_text(text, COLS);
    screen_text("  ", COLS);
    screen_text(signs[row->kind], COLS);
    screen_text(row->name,
                COLS - getcurx(stdscr) - (has_bar ? BAR_CELLS + 2 : 0));
    attrset(screen_look(heat_of(share)) | chosen);
    if (has_bar)
        screen_bar(y, share, BAR_CELLS);
    attrset(A_NORMAL);
}

static void draw_rows(const struct form *form, const struct top_ui *ui)
{
    for (size_t i = 0; i < ui->page && ui->first + i < ui->count; ++i)
        draw_row(form, LINE_ROWS + (int)i, &ui->rows[ui->first + i], ui);
}

/* The help: the keys of all screens, and those of (form). */
static void draw_help(const struct form *form)
{
    static const struct {
        const struct form *form; /* NULL = both */
        const char *text;
    } lines[] = {
        {NULL, "up down j k      select a row"},
        {NULL, "PgUp PgDn        scroll by pages; Home, End"},
        {&function_form, "Enter            show callers (<-), callees (->)"},
        {&function_form, "Esc Backspace    go back"},
        {&function_form, "s t n            sort by self, total, name"},
        {&site_form, "s t n            sort by self, total, name"},
        {&site_form,
         "l d              by longest run, by delay from wake to run"},
        {&site_form, "c e              by calls, by pending tasks"},
        {NULL, "/                filter names by a regex"},
        {&function_form, "i                show or hide the idle CPU"},
        {&function_form, "b                next CPU, of several; or all"},
        {NULL, "w                recent shares, or since reset"},
        {NULL, "p Space          pause"},
        {NULL, "r                reset"},
        {NULL, "? h              this help; any key closes it"},
        {NULL, "q Ctrl-C         quit"},
    };
    int y = LINE_ROWS;

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; ++i) {
        if (lines[i].form != NULL && lines[i].form != form)
            continue;
        move(y, 1);
        if (y++ < LINES - FOOT_LINES)
            screen_text(lines[i].text, COLS);
    }
}

/* The keys, on a screen that is (wide) and on others. */
static void draw_keys(const struct top_ui *ui, bool wide, const char *text,
                      const char *shorter)
{
    screen_line(LINES - FOOT_LINES, A_REVERSE,
                ui->typing ? " Enter applies the filter  Esc cancels"
                : wide     ? text
                : COLS >= TOTAL_COLUMNS ? shorter
                                        : " ? help  q quit");
}

/* ---- functions */

static void draw_guest(const struct top_model *top, const char *title)
{
    const struct model *model = &top->live->model;
    char text[LINE_BYTES];
    size_t used;

    snprintf(text, sizeof text, " %s", path_name(title));
    used = strlen(text);
    if (model->hello.version != 0 && COLS >= TOTAL_COLUMNS)
        snprintf(text + used, sizeof text - used, "  %s",
                 metadata_arch(&model->hello));
    used = strlen(text);
    if (top->report.view.has_cpu)
        snprintf(text + used, sizeof text - used, "  CPU %u alone",
                 (unsigned)top->report.view.cpu);
    used = strlen(text);
    if (COLS >= RATE_COLUMNS)
        snprintf(text + used, sizeof text - used, "  %g Hz  %u callers",
                 model->rate_mhz / 1000.0, (unsigned)model->depth);
    draw_title(text, top->boots, top_model_seconds(top));
}

static void draw_rates(const struct top_model *top, const struct top_ui *ui)
{
    char text[LINE_BYTES];
    char lost[NUMBER_TEXT_MAX], missed[NUMBER_TEXT_MAX];
    bool wide = COLS >= RATE_COLUMNS;
    attr_t look =
        screen_look(top_model_lost(top) > 0 ? SCREEN_BAD : SCREEN_PLAIN);

    snprintf(text, sizeof text,
             wide ? " %.0f samples/s   %.1f %% idle   %.1f %% stolen   %s lost"
                    "   %s missed"
                  : " %.0f/s  %.1f %% idle  %.1f %% stolen  %s lost",
             top_model_rate(top), top->idle, top_model_stolen(top),
             number_count(top_model_lost(top), lost),
             number_count(top_model_missed(top), missed));
    draw_facts(look, text, wide, ui);
}

void top_draw(const struct top_model *top, const struct top_ui *ui,
              const char *title)
{
    char state[LINE_BYTES] = "";

    if (top_zoomed(ui) != NULL)
        snprintf(state, sizeof state, " %s  %.2f %% self  %.2f %% total",
                 top_zoomed(ui), top->zoomed.self, top->zoomed.total);
    else if (ui->filter[0] != '\0')
        snprintf(state, sizeof state, " only /%s/", ui->filter);
    else if (top->warms_up)
        snprintf(state, sizeof state, " warming up: %s", TOP_WARMS_UP);
    else if (*top->busy != '\0')
        snprintf(state, sizeof state, " busy: %s", top->busy);
    erase();
    draw_guest(top, title);
    draw_rates(top, ui);
    draw_state(top->live, top->boots, A_NORMAL, state, ui);
    draw_columns(&function_form, ui);
    if (ui->help)
        draw_help(&function_form);
    else if (!top->warms_up)
        draw_rows(&function_form, ui);
    if (!ui->help && !top->warms_up && ui->count == 0 && top_zoomed(ui) != NULL)
        screen_line(LINE_ROWS, A_DIM, " no recent callers or callees");
    draw_keys(ui, COLS >= BAR_COLUMNS,
              " ? help  Enter callers, callees  s t n sort  / filter  "
              "w window  p pause  r reset  q quit",
              " ? help  Enter zoom  / filter  q quit");
    refresh();
}

/* ---- sites */

static void draw_busy(const struct top_sites *top, const struct top_ui *ui)
{
    bool wide = COLS >= LONG_COLUMNS;
    char text[LINE_BYTES];

    if (wide)
        snprintf(text, sizeof text,
                 " %.1f %% busy   %.1f %% tasks   %.1f %% callbacks   %.1f %% "
                 "interrupts",
                 top_sites_busy(top), top_sites_part(top, OCCUPANCY_TASKS),
                 top_sites_part(top, OCCUPANCY_CALLBACKS),
                 top_sites_part(top, OCCUPANCY_INTERRUPTS));
    else
        snprintf(text, sizeof text, " %.1f %% busy  %.1f %% tasks",
                 top_sites_busy(top), top_sites_part(top, OCCUPANCY_TASKS));
    draw_facts(screen_look(SCREEN_PLAIN), text, wide, ui);
}

void top_draw_sites(const struct top_sites *top, const struct top_ui *ui,
                    const char *title)
{
    double hz = (double)top->occupancy.tsc_hz;
    char text[LINE_BYTES], state[LINE_BYTES] = "", remark[LINE_BYTES - 2];
    bool has_filter = ui->filter[0] != '\0';

    if (has_filter)
        snprintf(state, sizeof state, " only /%s/", ui->filter);
    else if (top_sites_warm_up(top))
        snprintf(state, sizeof state, " warming up: %s",
                 top_sites_silence(top));
    else if (*top_sites_remark(top, remark, sizeof remark) != '\0')
        snprintf(state, sizeof state, " %s", remark);
    erase();
    snprintf(text, sizeof text, " %s  event loop", path_name(title));
    draw_title(text, top->boots,
               hz > 0 ? (double)top->last.account.wall / hz : 0.0);
    draw_busy(top, ui);
    draw_state(top->live, top->boots,
               has_filter ? A_NORMAL : screen_look(SCREEN_BAD), state, ui);
    draw_columns(&site_form, ui);
    if (ui->help)
        draw_help(&site_form);
    else
        draw_rows(&site_form, ui);
    draw_keys(ui, COLS >= LONG_COLUMNS,
              " ? help  s t l d c e n sort  / filter  w window  p pause  "
              "r reset  q quit",
              " ? help  / filter  q quit");
    refresh();
}
