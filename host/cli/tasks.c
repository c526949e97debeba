/* SPDX-License-Identifier: Apache-2.0 */
/* parasite tasks: what the tasks of a trace did, and what they wait for. */

#include "base/log.h"
#include "base/pager.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/tasks_print.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>

struct request {
    const char *input;
    bool has_input; /* (input) was given, and is not the default */
    bool json;
    struct tasks_wanted wanted;
};

enum { KEY_ROWS = 256 };

static const char help_text[] =
    "Show what the tasks and promises of a trace did, by the site that created "
    "them, and which of them still wait for which in the end, and since "
    "when. Mutexes, mailboxes, callbacks and the like that nothing waits for "
    "are only counted there."
    "\vFor example:\n"
    "  parasite tasks x.trace\n"
    "  parasite tasks -s running --rows 5 x.trace\n"
    "  parasite tasks --json x.trace | jq '.sites[].waiting_ns'";

static const struct argp_option options[] = {
    {"input", 'i', "TRACE", 0, "the trace to read (default: x.trace)", 0},
    {"sort", 's', "KEY", 0, "waiting (default), ready, running or count", 0},
    {"rows", KEY_ROWS, "N", 0, "rows of a table (40; 0 = all)", 0},
    {"all", 'a', NULL, 0, "list what rests as well", 0},
    {"json", 'j', NULL, 0, "print JSON, with all rows", 0},
    {"quiet", 'q', NULL, 0, "no messages except errors, and no headers", 0},
    {0},
};

static enum tasks_order order_of(const char *word)
{
    static const char *const words[] = {"waiting", "ready", "running", "count"};

    for (unsigned i = 0; i < sizeof words / sizeof words[0]; ++i) {
        if (strcmp(words[i], word) == 0)
            return (enum tasks_order)i;
    }
    die_usage("-s takes waiting, ready, running or count, not '%s'", word);
}

static error_t parse(int key, char *word, struct argp_state *state)
{
    struct request *request = state->input;

    switch (key) {
    case 'i':
    case ARGP_KEY_ARG:
        trace_choose(&request->input, &request->has_input, word);
        break;
    case 's':
        request->wanted.order = order_of(word);
        break;
    case KEY_ROWS:
        request->wanted.rows = arguments_rows(word);
        break;
    case 'a':
        request->wanted.all = true;
        break;
    case 'j':
        request->json = true;
        break;
    case 'q':
        log_quiet = true;
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

int command_tasks(int argc, char **argv)
{
    static const struct argp argp = {options, parse, "[TRACE]", help_text,
                                     0,       0,     0};
    struct request request = {.input = "x.trace", .wanted.rows = 40};
    struct trace trace;
    struct tasks tasks = {0};

    arguments_parse(&argp, argc, argv, &request);
    trace_open(&trace, request.input);
    tasks_read(&tasks, &trace);
    if (tasks.events == 0)
        die("%s: there are no tasks; the guest records them with "
            "prof.trace=stream",
            request.input);
    pager_start();
    if (request.json)
        tasks_print_json(&tasks);
    else
        tasks_print(&tasks, &request.wanted);
    tasks_free(&tasks);
    trace_close(&trace);
    return STATUS_OK;
}
