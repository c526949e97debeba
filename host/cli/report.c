/* SPDX-License-Identifier: Apache-2.0 */
/* parasite report: where the time went. */

#include "report/report.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/output.h"
#include "cli/arguments.h"

#include <stdlib.h>
#include <string.h>

static struct report request = {
    .view.input = "x.trace",
    .limit = -1,
    .row_limit = -1,
    .color = "auto",
};

static const char help_text[] =
    "Show where the time went: functions by their share of the time."
    "\vOn a terminal the output goes through $PAGER (less); 'parasite "
    "--no-pager report' prints it directly.\n\n"
    "For example:\n"
    "  parasite report x.trace\n"
    "  parasite report -s symbol,line --percent-limit 1 -k image.elf x.trace\n"
    "  parasite report -g -X '^\\[idle\\]$' x.trace\n"
    "  parasite report --task x.trace\n"
    "  parasite report -s cpu,symbol x.trace\n"
    "  parasite report --irqs-off x.trace\n"
    "  parasite report --blame lock x.trace";

static void set_keys(char *text)
{
    static const char *const names[] = {"symbol", "line", "task", "cpu"};
    char *words = xstrdup(text), *rest = words;
    const char *word;

    while ((word = strsep(&rest, ",")) != NULL) {
        size_t i = 0;

        while (i < 4 && strcmp(names[i], word) != 0)
            ++i;
        if (i == 4)
            die_usage("-s takes symbol, line, task and cpu, not '%s'", word);
        request.keys |= 1u << i;
    }
    free(words);
}

static void set_limit(char *word)
{
    request.limit = arguments_number("--percent-limit", word, 0, 100);
}

static void set_rows(char *word)
{
    request.row_limit = (long)arguments_rows(word);
}

static void set_exits(char *functions)
{
    static regex_t always;

    request.has_exits = true;
    if (functions == NULL)
        return;
    if (regcomp(&always, functions, REG_EXTENDED | REG_NOSUB) != 0)
        die_usage("'%s' is not a regular expression", functions);
    request.exits_always = &always;
}

static const struct argument options[] = {
    {"sort", 's', "KEYS",
     "what a row is: symbol (default), line, task, cpu, or several of them",
     .take = set_keys},
    {"tree", 'g', NULL, "show a tree of call stacks", .flag = &request.tree},
    {"inverted", 0, NULL, "show a tree that starts at the innermost functions",
     .flag = &request.inverted},
    {"task", 0, NULL,
     "a row for each task that was hit, by where it was created; with -s or "
     "-g, "
     "stacks go on with the sites that created their task",
     .flag = &request.view.by_task},
    {"callers", 0, NULL, "list the callers below each row",
     .flag = &request.callers},
    {"callees", 0, NULL, "list the callees below each row",
     .flag = &request.callees},
    {"children", 0, NULL, "sort by total, not by self",
     .flag = &request.by_total},
    {"exits", 0, "REGEX",
     "add a column for time in the hypervisor; functions that match REGEX "
     "count entirely",
     .take = set_exits, .is_optional = true},
    {"rows", 0, "N", "rows of the table (40; 0 = all)", .take = set_rows},
    {"percent-limit", 0, "PERCENT",
     "hide rows below PERCENT, and show all others", .take = set_limit},
    {"json", 0, NULL, "print JSON, with all rows", .flag = &request.json},
    {"stdio", 0, NULL, "print text (default)", .flag = &request.stdio},
    {"color", 0, "WHEN", "always, never or auto (default)",
     .text = &request.color, .take = arguments_color},
    {0},
};

static const struct command_line line = {options, "[TRACE]", help_text,
                                         .child = &weigh_options,
                                         .child_owner = &request.view};

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

static void show_report(struct report *report)
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
    arguments_parse(&line, argc, argv);
    if (request.inverted)
        request.tree = true;
    check_options(&request);
    if (request.keys == 0)
        request.keys =
            request.view.by_task && !request.tree ? REPORT_TASK : REPORT_SYMBOL;
    request.view.lines = (request.keys & REPORT_LINE) != 0;
    request.view.own_apart = true;
    view_open(&request.view);
    show_report(&request);
    report_close(&request);
    return STATUS_OK;
}
