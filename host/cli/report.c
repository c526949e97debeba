/* SPDX-License-Identifier: Apache-2.0 */
/* parasite report: where the time went. */

#include "report/report.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/pager.h"
#include "cli/arguments.h"
#include "cli/commands.h"

#include <stdlib.h>
#include <string.h>

enum {
    KEY_CALLERS = 512,
    KEY_CALLEES,
    KEY_LIMIT,
    KEY_JSON,
    KEY_INVERTED,
    KEY_TOTAL,
    KEY_COLOR,
    KEY_STDIO,
    KEY_EXITS,
    KEY_ROWS,
    KEY_TASK
};

static const char help_text[] =
    "Show where the time went: functions by their share of the time."
    "\vOn a terminal the output goes through $PAGER (less); 'parasite "
    "--no-pager report' prints it directly.\n\n"
    "For example:\n"
    "  parasite report x.trace\n"
    "  parasite report -s symbol,line --percent-limit 1 -k image.elf x.trace\n"
    "  parasite report -g -X '^\\[idle\\]$' x.trace\n"
    "  parasite report --task x.trace";

static const struct argp_option options[] = {
    {"sort", 's', "KEYS", 0,
     "what a row is: symbol (default), line, task, cpu, or several of them", 0},
    {"tree", 'g', NULL, 0, "show a tree of call stacks", 0},
    {"inverted", KEY_INVERTED, NULL, 0,
     "show a tree that starts at the innermost functions", 0},
    {"task", KEY_TASK, NULL, 0,
     "a row for each task that was hit, by where it was created; with -s or "
     "-g, "
     "stacks go on with the sites that created their task",
     0},
    {"callers", KEY_CALLERS, NULL, 0, "list the callers below each row", 0},
    {"callees", KEY_CALLEES, NULL, 0, "list the callees below each row", 0},
    {"children", KEY_TOTAL, NULL, 0, "sort by total, not by self", 0},
    {"exits", KEY_EXITS, "REGEX", OPTION_ARG_OPTIONAL,
     "add a column for time in the hypervisor; functions that match REGEX "
     "count entirely",
     0},
    {"rows", KEY_ROWS, "N", 0, "rows of the table (40; 0 = all)", 0},
    {"percent-limit", KEY_LIMIT, "PERCENT", 0,
     "hide rows below PERCENT, and show all others", 0},
    {"json", KEY_JSON, NULL, 0, "print JSON, with all rows", 0},
    {"stdio", KEY_STDIO, NULL, 0, "print text (default)", 0},
    {"color", KEY_COLOR, "WHEN", 0, "always, never or auto (default)", 0},
    {0},
};

static unsigned keys_of(const char *text)
{
    static const char *const names[] = {"symbol", "line", "task", "cpu"};
    char *words = xstrdup(text), *rest = words;
    unsigned keys = 0;
    const char *word;

    while ((word = strsep(&rest, ",")) != NULL) {
        size_t i = 0;

        while (i < 4 && strcmp(names[i], word) != 0)
            ++i;
        if (i == 4)
            die_usage("-s takes symbol, line, task and cpu, not '%s'", word);
        keys |= 1u << i;
    }
    free(words);
    return keys;
}

static double percent_of(const char *text)
{
    char *end;
    double percent = strtod(text, &end);

    if (end == text || *end != '\0' || !(percent >= 0 && percent <= 100))
        die_usage("--percent-limit takes 0 to 100, not '%s'", text);
    return percent;
}

static void want_exits(struct report *report, const char *functions)
{
    static regex_t always;

    report->has_exits = true;
    if (functions == NULL)
        return;
    if (regcomp(&always, functions, REG_EXTENDED | REG_NOSUB) != 0)
        die_usage("'%s' is not a regular expression", functions);
    report->exits_always = &always;
}

static error_t parse_form(int key, char *word, struct report *report)
{
    switch (key) {
    case KEY_LIMIT:
        report->limit = percent_of(word);
        break;
    case KEY_JSON:
        report->json = true;
        break;
    case KEY_COLOR:
        report->color = color_when(word);
        break;
    case KEY_STDIO:
        report->stdio = true;
        break;
    case KEY_ROWS:
        report->row_limit = (long)arguments_rows(word);
        break;
    case KEY_EXITS:
        want_exits(report, word);
        break;
    case KEY_TASK:
        report->view.by_task = true;
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static error_t parse(int key, char *word, struct argp_state *state)
{
    struct report *report = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &report->view;
        break;
    case 's':
        report->keys = keys_of(word);
        break;
    case 'g':
        report->tree = true;
        break;
    case KEY_INVERTED:
        report->tree = report->inverted = true;
        break;
    case KEY_CALLERS:
        report->callers = true;
        break;
    case KEY_CALLEES:
        report->callees = true;
        break;
    case KEY_TOTAL:
        report->by_total = true;
        break;
    default:
        return parse_form(key, word, report);
    }
    return 0;
}

static void open_exits(struct report *report)
{
    if (!report->has_exits)
        return;
    if (report->view.names.image == NULL)
        die("--exits needs the image's code; give the image with -k");
    report->exits = exits_open(report->view.names.image, report->exits_always);
    if (report->exits == NULL)
        die("--exits: the image's code cannot be read");
}

/* A tree as text has no rows, and no columns of them. */
static void check_options(const struct report *report)
{
    bool of_rows = report->callers || report->callees || report->has_exits ||
                   report->row_limit >= 0;

    if (report->json && report->stdio)
        die_usage("--json and --stdio contradict each other");
    if (report->tree && !report->json && of_rows)
        die_usage("--callers, --callees, --exits and --rows are for a table, "
                  "not for a tree");
}

static void show(struct report *report)
{
    open_exits(report);
    report_add_up(report);
    exits_close(report->exits);
    if (report->sum.samples == 0 && !report->json)
        die("%s: %s", report->view.input, view_why_empty(&report->view));
    pager_start();
    if (report->json)
        report_print_json(report);
    else if (report->tree)
        report_print_tree(report);
    else
        report_print(report);
}

int command_report(int argc, char **argv)
{
    static const struct argp_child children[] = {
        {&view_argp, 0, NULL, 0},
        {0},
    };
    static const struct argp argp = {options,  parse, "[TRACE]", help_text,
                                     children, 0,     0};
    static struct report report = {
        .view.input = "x.trace",
        .limit = -1,
        .row_limit = -1,
        .color = "auto",
    };

    arguments_parse(&argp, argc, argv, &report);
    check_options(&report);
    if (report.keys == 0)
        report.keys =
            report.view.by_task && !report.tree ? REPORT_TASK : REPORT_SYMBOL;
    report.view.lines = (report.keys & REPORT_LINE) != 0;
    report.view.own_apart = true;
    view_open(&report.view);
    show(&report);
    report_close(&report);
    return STATUS_OK;
}
