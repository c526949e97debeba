/* SPDX-License-Identifier: Apache-2.0 */
/* parasite report: where the time went. */

#include "report/report.h"

#include "base/log.h"
#include "base/memory.h"
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
    KEY_EXITS
};

static const char help_text[] =
    "Show where the time went."
    "\vFor example:\n"
    "  parasite report -i x.trace -k image.elf\n"
    "  parasite report -s symbol,line --percent-limit 1\n"
    "  parasite report -g -X '^\\[idle\\]$'";

static const struct argp_option options[] = {
    {"sort", 's', "KEYS", 0, "symbol (default), line, task, cpu", 0},
    {"tree", 'g', NULL, 0, "as a tree of the stacks", 0},
    {"inverted", KEY_INVERTED, NULL, 0,
     "a tree that starts at the innermost functions", 0},
    {"callers", KEY_CALLERS, NULL, 0, "below each row, who called it", 0},
    {"callees", KEY_CALLEES, NULL, 0, "below each row, what it called", 0},
    {"children", KEY_TOTAL, NULL, 0, "sorted by total instead of self", 0},
    {"exits", KEY_EXITS, "REGEX", OPTION_ARG_OPTIONAL,
     "a column for time in the hypervisor; functions that match REGEX "
     "count as a whole",
     0},
    {"percent-limit", KEY_LIMIT, "PERCENT", 0, "hide what is below it", 0},
    {"json", KEY_JSON, NULL, 0, "as JSON", 0},
    {"stdio", KEY_STDIO, NULL, 0, "as text (the default)", 0},
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
            die_usage(
                "there is no key '%s' to sort by; there are symbol, line, "
                "task and cpu",
                word);
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
        report->color = word;
        break;
    case KEY_STDIO:
        break;
    case KEY_EXITS:
        want_exits(report, word);
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
        die("--exits reads the image's code; -k says where it is");
    report->exits = exits_open(report->view.names.image, report->exits_always);
    if (report->exits == NULL)
        die("--exits: the image's code cannot be read");
}

static void show(struct report *report)
{
    open_exits(report);
    report_add_up(report);
    exits_close(report->exits);
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
        .keys = REPORT_SYMBOL,
        .limit = -1,
        .color = "auto",
    };

    argp_parse(&argp, argc, argv, 0, NULL, &report);
    report.view.lines = (report.keys & REPORT_LINE) != 0;
    view_open(&report.view);
    show(&report);
    report_close(&report);
    return STATUS_OK;
}
