/* SPDX-License-Identifier: Apache-2.0 */
/* What each key of top does, and how its rows are sorted and chosen. */

#include "../unit.h"

#include "top/keys.h"

#define ROWS 5
#define MANY 100

#define FUNCTION(kind, name, self, total, rate)                                \
    {                                                                          \
        kind, name, self, total, rate, 0, 0, 0                                 \
    }

static const struct top_row functions[ROWS] = {
    FUNCTION(TOP_ROW, "leaf", 40, 40, 400),
    FUNCTION(TOP_ROW, "main", 0, 90, 0),
    FUNCTION(TOP_ROW, TOP_IDLE, 10, 10, 90),
    FUNCTION(TOP_ROW, "branch", 10, 50, 100),
    FUNCTION(TOP_ROW, "apple", 10, 10, 100),
};

static void names_are(const struct top_row *rows, size_t count,
                      const char *expected)
{
    char text[256] = "";

    for (size_t i = 0; i < count; ++i) {
        strcat(text, i > 0 ? " " : "");
        strcat(text, rows[i].name);
    }
    assert_string_equal(text, expected);
}

static const struct top_row family[] = {
    FUNCTION(TOP_CALLEE, "big", 90, 90, 0),
    FUNCTION(TOP_CALLER, "small", 1, 1, 0),
    FUNCTION(TOP_CALLER, "middle", 5, 5, 0),
    FUNCTION(TOP_CALLEE, "abc", 2, 2, 0),
};

static const struct top_row sites[] = {
    {TOP_ROW, "a", 5, 9, 3, 1, 7, 4},
    {TOP_ROW, "b", 4, 9, 5, 9, 6, 0},
    {TOP_ROW, "c", 3, 9, 4, 3, 8, 9},
    {TOP_ROW, "d", 6, 9, 4, 3, 8, 9},
};

/* Each list is sorted on from the order before. */
TEST(rows_are_sorted)
{
    static const struct {
        const struct top_row *rows;
        size_t count;
        enum top_sort sort;
        const char *names;
    } orders[] = {
        {functions, ROWS, TOP_BY_SELF, "leaf branch [idle] apple main"},
        {functions, ROWS, TOP_BY_TOTAL, "main branch leaf [idle] apple"},
        {functions, ROWS, TOP_BY_NAME, "[idle] apple branch leaf main"},
        /* callers stand before callees */
        {family, 4, TOP_BY_SELF, "middle small big abc"},
        {family, 4, TOP_BY_TOTAL, "middle small big abc"},
        {family, 4, TOP_BY_NAME, "middle small abc big"},
        {sites, 4, TOP_BY_LONGEST, "b d c a"},
        {sites, 4, TOP_BY_DELAY, "d c a b"},
        {sites, 4, TOP_BY_CALLS, "b d c a"},
        {sites, 4, TOP_BY_PENDING, "d c a b"},
        {sites, 4, TOP_BY_SELF, "d a b c"},
    };
    struct top_row rows[ROWS];

    for (size_t i = 0; i < COUNT(orders); ++i) {
        if (i == 0 || orders[i].rows != orders[i - 1].rows)
            memcpy(rows, orders[i].rows, orders[i].count * sizeof *rows);
        top_rows_sort(rows, orders[i].count, orders[i].sort);
        names_are(rows, orders[i].count, orders[i].names);
    }
    top_rows_sort(rows, 0, TOP_BY_NAME);
}

TEST(rows_are_filtered)
{
    struct top_row rows[ROWS];
    regex_t regex;

    assert_int_equal(regcomp(&regex, "^(l|b)|a$", REG_EXTENDED | REG_NOSUB), 0);
    memcpy(rows, functions, sizeof rows);
    names_are(rows, top_rows_filter(rows, ROWS, &regex, true), "leaf branch");
    regfree(&regex);
    memcpy(rows, functions, sizeof rows);
    names_are(rows, top_rows_filter(rows, ROWS, NULL, false),
              "leaf main branch apple");
    memcpy(rows, functions, sizeof rows);
    assert_int_equal(top_rows_filter(rows, ROWS, NULL, true), ROWS);
}

/* A list of (MANY) rows on a screen that has room for ten. */
static struct top_ui *begun(void)
{
    static struct top_row rows[MANY];
    static char names[MANY][8];
    static struct top_ui ui;

    ui = (struct top_ui){.page = 10};
    for (unsigned i = 0; i < MANY; ++i) {
        snprintf(names[i], sizeof names[i], "f%u", i);
        rows[i] = (struct top_row){.name = names[i], .self = MANY - i};
    }
    top_set_list(&ui, rows, MANY);
    return &ui;
}

static void stands_at(const struct top_ui *ui, size_t selected, size_t first)
{
    assert_int_equal(ui->selected, selected);
    assert_int_equal(ui->first, first);
}

TEST(keys_move_the_selection)
{
    static const struct {
        int key;
        size_t selected, first;
    } steps[] = {
        {TOP_KEY_UP, 0, 0},         {'j', 1, 0},
        {TOP_KEY_DOWN, 2, 0},       {'k', 1, 0},
        {TOP_KEY_PAGE_DOWN, 11, 2}, {TOP_KEY_END, 99, 90},
        {TOP_KEY_DOWN, 99, 90},     {TOP_KEY_PAGE_DOWN, 99, 90},
        {TOP_KEY_PAGE_UP, 89, 89},  {TOP_KEY_HOME, 0, 0},
        {TOP_KEY_PAGE_UP, 0, 0},
    };
    struct top_ui *ui = begun();

    for (size_t i = 0; i < COUNT(steps); ++i) {
        top_key(ui, steps[i].key);
        stands_at(ui, steps[i].selected, steps[i].first);
    }
}

TEST(an_empty_list_bears_all_keys)
{
    static const int keys[] = {
        TOP_KEY_UP,   TOP_KEY_DOWN,  TOP_KEY_PAGE_UP, TOP_KEY_PAGE_DOWN,
        TOP_KEY_HOME, TOP_KEY_END,   TOP_KEY_ENTER,   TOP_KEY_ESCAPE,
        's',          TOP_KEY_RIGHT, TOP_KEY_LEFT,    TOP_KEY_ERASE};
    struct top_ui ui = {.page = 10};

    for (size_t i = 0; i < COUNT(keys); ++i) {
        top_key(&ui, keys[i]);
        stands_at(&ui, 0, 0);
        assert_null(top_zoomed(&ui));
    }
}

TEST(a_chosen_row_stays_chosen)
{
    struct top_ui *ui = begun();
    struct top_row rows[] = {{.name = "f2"}, {.name = "f0"}, {.name = "f1"}};

    top_set_list(ui, rows, 3);
    stands_at(ui, 0, 0); /* f0 was not selected */
    ui = begun();
    top_key(ui, TOP_KEY_DOWN);
    top_set_list(ui, rows, 3);
    stands_at(ui, 2, 0);
    top_set_list(ui, rows, 1); /* f1 is gone */
    stands_at(ui, 0, 0);
}

TEST(functions_are_zoomed_into_and_left)
{
    struct top_ui *ui = begun();

    assert_null(top_zoomed(ui));
    top_key(ui, TOP_KEY_DOWN);
    top_key(ui, TOP_KEY_ENTER);
    assert_string_equal(top_zoomed(ui), "f1");
    stands_at(ui, 0, 0);
    top_key(ui, TOP_KEY_RIGHT);
    assert_string_equal(top_zoomed(ui), "f0");
    top_key(ui, TOP_KEY_ENTER); /* it calls itself: that is where we are */
    assert_int_equal(ui->zoom_count, 2);
    top_key(ui, TOP_KEY_ESCAPE);
    assert_string_equal(top_zoomed(ui), "f1");
    top_key(ui, TOP_KEY_ERASE);
    assert_null(top_zoomed(ui));
    top_key(ui, TOP_KEY_LEFT);
    assert_null(top_zoomed(ui));
}

TEST(the_way_back_is_bounded)
{
    struct top_ui *ui = begun();

    for (unsigned i = 0; i < 3 * TOP_ZOOMS_MAX; ++i) {
        top_key(ui, i % 2 == 0 ? TOP_KEY_DOWN : TOP_KEY_HOME);
        top_key(ui, TOP_KEY_ENTER);
    }
    assert_int_equal(ui->zoom_count, TOP_ZOOMS_MAX);
    top_ui_free(ui);
    assert_null(top_zoomed(ui));
}

static void type(struct top_ui *ui, const char *text)
{
    while (*text != '\0')
        top_key(ui, (unsigned char)*text++);
}

TEST(a_filter_is_typed)
{
    struct top_ui *ui = begun();

    type(ui, "/q(s");
    assert_true(ui->typing);
    assert_false(ui->quit);
    top_key(ui, TOP_KEY_ENTER); /* no regular expression: goes on */
    assert_true(ui->typing);
    assert_string_not_equal(ui->problem, "");
    assert_string_equal(ui->filter, "");
    type(ui, "\x7f\x7f\xc3\xa4\x7f");
    assert_string_equal(ui->typed, "q");
    top_key(ui, TOP_KEY_ENTER);
    assert_false(ui->typing);
    assert_true(ui->has_regex);
    assert_string_equal(ui->filter, "q");
    type(ui, "/x");
    top_key(ui, TOP_KEY_ESCAPE);
    assert_string_equal(ui->filter, "q");
    type(ui, "/\x7f\x7f\n");
    assert_false(ui->has_regex);
    assert_string_equal(ui->filter, "");
}

TEST(a_long_filter_is_cut)
{
    struct top_ui *ui = begun();

    top_key(ui, '/');
    for (unsigned i = 0; i < 2 * TOP_TEXT_MAX; ++i)
        top_key(ui, 'x');
    top_key(ui, TOP_KEY_ENTER);
    assert_int_equal(strlen(ui->filter), TOP_TEXT_MAX - 1);
    top_ui_free(ui);
}

TEST(a_filter_ends_the_zoom)
{
    struct top_ui *ui = begun();

    top_key(ui, TOP_KEY_ENTER);
    type(ui, "/f\n");
    assert_null(top_zoomed(ui));
    top_ui_free(ui);
}

TEST(switches_switch)
{
    struct top_ui *ui = begun();

    type(ui, "tpiwr");
    assert_int_equal(ui->sort, TOP_BY_TOTAL);
    assert_true(ui->paused && ui->no_idle && ui->since_reset && ui->reset);
    type(ui, "n iw");
    assert_int_equal(ui->sort, TOP_BY_NAME);
    assert_false(ui->paused || ui->no_idle || ui->since_reset);
    type(ui, "s?");
    assert_int_equal(ui->sort, TOP_BY_SELF);
    assert_true(ui->help);
    type(ui, "t"); /* ends the help and does nothing else */
    assert_false(ui->help);
    assert_int_equal(ui->sort, TOP_BY_SELF);
    assert_false(ui->quit);
    type(ui, "hq");
    assert_true(ui->quit);
}

TEST(sites_have_more_keys)
{
    static const struct {
        int key;
        enum top_sort sort;
    } keys[] = {{'s', TOP_BY_SELF},  {'t', TOP_BY_TOTAL}, {'l', TOP_BY_LONGEST},
                {'d', TOP_BY_DELAY}, {'c', TOP_BY_CALLS}, {'e', TOP_BY_PENDING},
                {'n', TOP_BY_NAME}};
    struct top_ui *ui = begun();

    type(ui, "tldce"); /* of functions there are three orders */
    assert_int_equal(ui->sort, TOP_BY_TOTAL);
    ui->sites = true;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; ++i) {
        top_key(ui, keys[i].key);
        assert_int_equal(ui->sort, keys[i].sort);
    }
    top_key(ui, TOP_KEY_DOWN);
    top_key(ui, TOP_KEY_ENTER); /* there is nothing to zoom into */
    assert_null(top_zoomed(ui));
    stands_at(ui, 1, 0);
}
