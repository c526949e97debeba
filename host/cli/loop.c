/* SPDX-License-Identifier: Apache-2.0 */
/* parasite loop: who held the event loop, as the guest counted it. */

#include "base/log.h"
#include "base/pager.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/loop_print.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>

struct request {
    struct loop_print print;
    bool json;
};

enum { KEY_ROWS = 256, KEY_TREE, KEY_HISTOGRAM };

static const char help_text[] =
    "Show which tasks held the event loop, by the site that created them, as "
    "the guest counted it with prof.loop=."
    "\vThe columns: own time, and with that of all tasks that its tasks "
    "created, at every depth; tasks created, those that have not ended, and "
    "the "
    "age of the oldest of them; failed and cancelled ones; the longest single "
    "run; the delay from wake to run that 99 % of the runs had at most.\n\n"
    "For example:\n"
    "  parasite loop x.trace\n"
    "  parasite loop -s longest --rows 5 x.trace\n"
    "  parasite loop --tree --time 2,3 x.trace\n"
    "  parasite loop --json x.trace | jq '.sites[].own_ns'";

static const struct argp_option options[] = {
    {"sort", 's', "KEY", 0,
     "own (default), total, longest, delay, wall, calls, pending or name", 0},
    {"rows", KEY_ROWS, "N", 0, "rows of a table (40; 0 = all)", 0},
    {"tree", KEY_TREE, NULL, 0, "sites below those that created their tasks",
     0},
    {"percentiles", 'p', NULL, 0,
     "of runs, delays and wall times, for each site", 0},
    {"histogram", KEY_HISTOGRAM, "WHAT", 0,
     "for each site: of its run, delay or wall times", 0},
    {"json", 'j', NULL, 0, "print JSON, with all rows", 0},
    {0},
};

static void set_histogram(struct loop_print *print, const char *word)
{
    unsigned i = 0;

    while (i < OCCUPANCY_HISTOGRAMS && strcmp(loop_histograms[i], word) != 0)
        ++i;
    if (i == OCCUPANCY_HISTOGRAMS)
        die_usage("--histogram takes run, delay or wall, not '%s'", word);
    print->histogram = (enum occupancy_histogram)i;
    print->has_histogram = true;
}

static error_t parse(int key, char *word, struct argp_state *state)
{
    struct request *request = state->input;
    struct loop_print *print = &request->print;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &print->view;
        break;
    case 's':
        print->order = occupancy_order_of(word);
        if (print->order == OCCUPANCY_ORDERS)
            die_usage("-s takes own, total, longest, delay, wall, calls, "
                      "pending or name, not '%s'",
                      word);
        break;
    case KEY_ROWS:
        print->rows = arguments_rows(word);
        break;
    case KEY_TREE:
        print->tree = true;
        break;
    case 'p':
        print->percentiles = true;
        break;
    case KEY_HISTOGRAM:
        set_histogram(print, word);
        break;
    case 'j':
        request->json = true;
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static void take(void *occupancy, const struct packet *packet)
{
    occupancy_take(occupancy, packet);
}

/* Ends the process if there is nothing to be shown. */
static void read_trace(struct loop_print *print)
{
    struct occupancy *occupancy = &print->occupancy;
    struct packet_sink sink = {take, occupancy};

    view_open(&print->view);
    occupancy->from = print->view.model.from;
    occupancy->to = print->view.model.to;
    trace_each(&print->view.trace, &sink);
    occupancy_finish(occupancy);
    if (occupancy->now.time != 0 && occupancy->tsc_hz != 0)
        return;
    if (!occupancy->any)
        die("%s: there is nothing of loop occupancy; the guest sends it with "
            "prof.loop=",
            print->view.input);
    if (occupancy->tsc_hz == 0)
        die("%s: the frequency of the guest's clock is missing",
            print->view.input);
    die("%s: there is nothing of loop occupancy in that time",
        print->view.input);
}

/* Returns whether all that was read can be true. */
static bool print_problems(const struct occupancy *occupancy)
{
    char text[OCCUPANCY_TEXT_MAX];
    bool right = true;

    for (unsigned i = 0; i < OCCUPANCY_PROBLEM_KINDS; ++i) {
        if (occupancy->problems[i].count == 0)
            continue;
        log_error("%s", occupancy_problem_text(
                            occupancy, (enum occupancy_problem_kind)i, text));
        right = right &&
                !occupancy_is_wrong(occupancy, (enum occupancy_problem_kind)i);
    }
    return right;
}

int command_loop(int argc, char **argv)
{
    static const struct argp_child children[] = {{&view_trace_argp, 0, NULL, 0},
                                                 {0}};
    static const struct argp argp = {options,  parse, "[TRACE]", help_text,
                                     children, 0,     0};
    static struct request request = {
        .print = {.rows = 40,
                  .view = {.input = "x.trace", .weight = MODEL_CLOCKS}}};
    struct loop_print *print = &request.print;
    bool right;

    arguments_parse(&argp, argc, argv, &request);
    if (print->tree + print->percentiles + print->has_histogram > 1)
        die_usage("one of --tree, -p and --histogram at a time");
    read_trace(print);
    pager_start();
    if (request.json)
        loop_print_json(print);
    else
        loop_print(print);
    right = print_problems(&print->occupancy);
    occupancy_free(&print->occupancy);
    view_close(&print->view);
    return right ? STATUS_OK : STATUS_DATA;
}
