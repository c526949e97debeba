/* SPDX-License-Identifier: Apache-2.0 */
/* parasite causal: what would become faster, and by how much. */

#include "base/log.h"
#include "base/output.h"
#include "base/pager.h"
#include "base/path.h"
#include "causal/causal.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "trace/trace.h"

#include <argp.h>
#include <errno.h>
#include <string.h>

struct request {
    const char *input;
    const char *output; /* a page; NULL = none */
    const char *coz;    /* a profile for Coz's viewer; NULL = none */
    bool has_input;
    bool json;
};

enum { KEY_COZ = 256 };

static const char help_text[] =
    "Show what the guest's experiments say: by how much the time for a unit of "
    "work becomes shorter if a target is faster, with 95 % intervals, and "
    "what limits it."
    "\vThe columns: the part of the time that is spent in the target at normal "
    "speed, and the gain at each speed-up. --coz writes the format of Coz's "
    "viewer; as lines of JSON, if the name ends in .jsonl.\n\n"
    "For example:\n"
    "  parasite causal x.trace\n"
    "  parasite causal -o causal.html x.trace\n"
    "  parasite causal --coz profile.coz x.trace\n"
    "  parasite causal --json x.trace | jq '.points[].curves[].slope'";

static const struct argp_option options[] = {
    {"input", 'i', "TRACE", 0, "the trace to read (default: x.trace)", 0},
    {"output", 'o', "PAGE", 0, "write a page with the curves, - is stdout", 0},
    {"coz", KEY_COZ, "FILE", 0, "write a profile for Coz's viewer", 0},
    {"json", 'j', NULL, 0, "print JSON", 0},
    {"quiet", 'q', NULL, 0, "no messages except errors, and no headers", 0},
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
    case 'o':
        request->output = word;
        break;
    case KEY_COZ:
        request->coz = word;
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

static void take(void *causal, const struct packet *packet)
{
    causal_take(causal, packet);
}

/* Ends the process if there is nothing to be shown. */
static void read_trace(struct causal *causal, const char *path)
{
    struct packet_sink sink = {take, causal};
    struct trace trace = {0};

    trace_open(&trace, path);
    trace_each(&trace, &sink);
    trace_close(&trace);
    if (!causal->any)
        die("%s: there are no experiments of causal profiling; a guest makes "
            "them with prof.causal=auto, or with prof.causal=on and "
            "prof.target=, and with prof.progress=",
            path);
}

static void close_file(FILE *out, bool fine, const char *path)
{
    if (!output_close(out, fine))
        die("%s: cannot be written: %s", path, strerror(errno));
    if (!log_quiet && strcmp(path, "-") != 0)
        log_summary("[ %s: wrote %s ]", log_name, path);
}

static void write_files(const struct causal *causal,
                        const struct request *request)
{
    const char *title = path_name(request->input);
    FILE *out;

    if (request->output != NULL) {
        out = output_open(request->output);
        close_file(out, causal_write_page(causal, title, out), request->output);
    }
    if (request->coz != NULL) {
        const char *ending = arguments_ending(request->coz);
        bool lines = strcmp(ending, ".jsonl") == 0;

        out = output_open(request->coz);
        close_file(out, causal_write_coz(causal, lines, out), request->coz);
    }
}

int command_causal(int argc, char **argv)
{
    static const struct argp argp = {options, parse, "[TRACE]", help_text,
                                     0,       0,     0};
    static struct request request = {.input = "x.trace"};
    static struct causal causal;
    bool fine = true;

    arguments_parse(&argp, argc, argv, &request);
    read_trace(&causal, request.input);
    write_files(&causal, &request);
    if (request.json) {
        fine = causal_write_json(&causal, path_name(request.input), stdout);
    } else if (request.output == NULL && request.coz == NULL) {
        pager_start();
        causal_print(&causal, stdout);
    }
    causal_free(&causal);
    return fine ? STATUS_OK : STATUS_DATA;
}
