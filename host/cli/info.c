/* SPDX-License-Identifier: Apache-2.0 */
/* parasite info: the contents of a trace, and what was lost. */

#include "base/json_text.h"
#include "base/log.h"
#include "base/number.h"
#include "base/printable.h"
#include "cli/arguments.h"
#include "cli/check.h"
#include "cli/commands.h"
#include "image/find.h"
#include "trace/metadata.h"
#include "trace/trace.h"

#include <argp.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

struct request {
    const char *input;
    bool has_input; /* (input) was given, and is not the default */
    bool json;
    bool check;
};

enum { KEY_CHECK = 256 };

static const char help_text[] = "Show what a trace contains and what was lost."
                                "\vFor example:\n  parasite info x.trace\n"
                                "  parasite info --json x.trace | jq .samples\n"
                                "  parasite info --check x.trace";

static const struct argp_option options[] = {
    {"input", 'i', "TRACE", 0, "the trace to read (default: x.trace)", 0},
    {"json", 'j', NULL, 0, "print JSON", 0},
    {"check", KEY_CHECK, NULL, 0,
     "instead: whether what it says can be true, and where events are missing; "
     "the exit status is 1 if not",
     0},
    {0},
};

static error_t parse(int key, char *word, struct argp_state *state)
{
    struct request *request = state->input;

    switch (key) {
    case 'i':
    case ARGP_KEY_ARG:
        trace_choose(&request->input, &request->has_input, word);
        break;
    case 'j':
        request->json = true;
        break;
    case KEY_CHECK:
        request->check = true;
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* One line, or one member, in the order of the output. */
struct fact {
    const char *name;
    const char *text; /* NULL = a number */
    uint64_t number;
};

static uint64_t ns(uint64_t clocks)
{
    return clocks * (1000000000u / PROF_CLOCK_HZ);
}

static void print_json(const struct fact *facts, size_t count, double hz)
{
    json_t *all = json_object();

    for (size_t i = 0; i < count; ++i)
        json_set(all, facts[i].name,
                 facts[i].text != NULL
                     ? json_text(facts[i].text)
                     : json_integer((json_int_t)facts[i].number));
    json_set(all, "hz", json_real(hz));
    json_print(all, stdout);
}

static void print_text(const struct fact *facts, size_t count, double hz)
{
    char number[NUMBER_TEXT_MAX];

    for (size_t i = 0; i < count; ++i) {
        printf("%-16s ", facts[i].name);
        printable_put(stdout, facts[i].text != NULL
                                  ? facts[i].text
                                  : number_count(facts[i].number, number));
        putchar('\n');
    }
    printf("%-16s %g\n", "hz", hz);
}

static const char *time_text(uint64_t seconds, char *text, size_t room)
{
    time_t when = (time_t)seconds;
    struct tm parts;

    if (seconds == 0 || gmtime_r(&when, &parts) == NULL)
        return "unknown";
    strftime(text, room, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text;
}

static uint64_t stopped(const struct model *model)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < 8; ++i)
        sum += model->stopped_walks[i];
    return sum;
}

static void print_info(const struct trace *trace, const struct model *model,
                       bool json)
{
    char build_id[65], booted[32];
    struct image image;
    enum image_from from =
        image_find(&image, trace, &model->hello, NULL, false);
    const struct fact facts[] = {
        {"path", trace->path, 0},
        {"image", trace->image != NULL ? trace->image : "", 0},
        {"symbols", image_from_text(from), 0},
        {"symbols_path",
         from == IMAGE_FROM_TRACE     ? trace->path
         : from != IMAGE_FROM_NOWHERE ? image.path
                                      : "",
         0},
        {"build_id", build_id, 0},
        {"arch", metadata_arch(&model->hello), 0},
        {"boot", time_text(model->hello.unix_seconds, booted, sizeof booted),
         0},
        {"samples", NULL, model_samples(model)},
        {"lost", NULL, model_lost(model)},
        {"stacks", NULL, model->stacks.samples},
        {"idle", NULL, model->idle.samples},
        {"overflowed", NULL, model->overflowed.samples},
        {"dropped", NULL, model->dropped.samples},
        {"discarded", NULL, model->discarded},
        {"missed_ticks", NULL, model->missed_ticks},
        {"stolen_ns", NULL, ns(model->stolen_clocks)},
        {"stopped_walks", NULL, stopped(model)},
        {"duration_ns", NULL, ns(model->end - model->begin)},
        {"sampled_ns", NULL,
         ns(model->stacks.clocks + model->idle.clocks +
            model->overflowed.clocks)},
        {"nodes", NULL, model_nodes(model) - MODEL_PSEUDOS},
        {"depth", NULL, model->depth},
        {"events", NULL, model->events},
        {"packets", NULL, model->packets},
        {"lost_events", NULL, model->lost_events},
        {"missing_packets", NULL, model->missing_packets},
        {"unread_packets", NULL, model->unread_packets},
        {"unkept_samples", NULL, model->unkept_samples},
        {"garbage_bytes", NULL, trace->garbage},
        {"bytes", NULL, trace->index.bytes},
        {"tsc_hz", NULL, model->hello.tsc_hz},
        {"ended", NULL, model->ended},
        {"exit_code", NULL, model->code},
    };

    metadata_build_id(&model->hello, build_id);
    (json ? print_json : print_text)(facts, sizeof facts / sizeof facts[0],
                                     model->rate_mhz / 1000.0);
    image_close(&image);
}

int command_info(int argc, char **argv)
{
    static const struct argp argp = {options, parse, "[TRACE]", help_text,
                                     0,       0,     0};
    struct request request = {.input = "x.trace"};
    struct trace trace;
    struct model model = {0};
    int status = STATUS_OK;

    arguments_parse(&argp, argc, argv, &request);
    trace_open(&trace, request.input);
    if (request.check) {
        status = check_trace(&trace, request.json);
    } else {
        trace_feed(&trace, &model);
        print_info(&trace, &model, request.json);
    }
    model_free(&model);
    trace_close(&trace);
    return status;
}
