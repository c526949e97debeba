/* SPDX-License-Identifier: Apache-2.0 */
/* The terminal as a screen. */

#define _GNU_SOURCE /* wcwidth() */

#include "top/terminal.h"

#include "base/log.h"
#include "top/keys.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#define RED_PERCENT 5.0
#define GREEN_PERCENT 0.5
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

attr_t screen_look(enum screen_look look)
{
    attr_t bold = look == SCREEN_HOT || look == SCREEN_BAD ? A_BOLD : A_NORMAL;

    return colored ? bold | (attr_t)COLOR_PAIR(look) : bold;
}

void screen_text(const char *text, int columns)
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

void screen_line(int y, attr_t look, const char *text)
{
    if (y >= LINES)
        return;
    attrset(look);
    mvhline(y, 0, (chtype)(' ' | look), COLS);
    move(y, 0);
    screen_text(text, COLS);
    attrset(A_NORMAL);
}

void screen_ends(int y, attr_t look, const char *left, const char *right)
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

attr_t screen_heat(double percent)
{
    return screen_look(percent >= RED_PERCENT     ? SCREEN_HOT
                       : percent >= GREEN_PERCENT ? SCREEN_WARM
                                                  : SCREEN_PLAIN);
}

void screen_bar(int y, double percent, int cells)
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
