/* SPDX-License-Identifier: Apache-2.0 */
/* parasite export: a trace in another tool's format. */

#include "export.h"

#include "commands.h"
#include "parasite.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct request {
    struct view view; /* first: view.c is given a pointer to it */
    const char *format;
    const char *output;
};

static const struct {
    const char *name;
    const char *suffix;
    bool (*write)(struct view *view, FILE *out);
    bool is_text;
    bool has_lines;
} formats[] = {
    {"folded", ".folded", export_folded, true, false},
    {"folded", ".txt", export_folded, true, false},
    {"pprof", ".pprof", export_pprof, false, true},
    {"pprof", ".pb.gz", export_pprof, false, true},
};
#define FORMATS (sizeof formats / sizeof formats[0])

static const char help_text[] =
    "Turn a trace into another tool's format: folded (flamegraph.pl, "
    "speedscope, inferno) or pprof (go tool pprof)."
    "\vWithout -f the suffix of FILE decides: .folded, .txt, .pprof, "
    ".pb.gz.\n\n"
    "For example:\n"
    "  parasite export -f folded x.trace | flamegraph.pl >x.svg\n"
    "  parasite export -o x.pb.gz x.trace && go tool pprof -top x.pb.gz";

static const struct argp_option options[] = {
    {"format", 'f', "FORMAT", 0, "folded or pprof", 0},
    {"output", 'o', "FILE", 0, "where to (stdout)", 0},
    {0},
};

static error_t parse(int key, char *word, struct argp_state *state)
{
    struct request *request = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &request->view;
        break;
    case 'f':
        request->format = word;
        break;
    case 'o':
        request->output = word;
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static bool ends_with(const char *text, const char *suffix)
{
    size_t bytes = strlen(text), end = strlen(suffix);

    return bytes >= end && strcmp(text + bytes - end, suffix) == 0;
}

static size_t format_of(const struct request *request)
{
    size_t i = 0;

    while (i < FORMATS &&
           !(request->format != NULL
                 ? strcmp(formats[i].name, request->format) == 0
                 : ends_with(request->output, formats[i].suffix)))
        ++i;
    if (i == FORMATS && request->format != NULL)
        misuse("there is no format '%s'; there are folded and pprof",
               request->format);
    if (i == FORMATS)
        misuse("say which format with -f: folded or pprof");
    return i;
}

static FILE *opened(const struct request *request, bool is_text)
{
    FILE *out = stdout;

    if (strcmp(request->output, "-") != 0)
        out = fopen(request->output, "wb");
    else if (!is_text && isatty(STDOUT_FILENO))
        misuse("this format is not for a terminal; write it to a file with -o");
    if (out == NULL)
        fail("%s: cannot be written: %s", request->output, strerror(errno));
    return out;
}

int command_export(int argc, char **argv)
{
    static const struct argp_child children[] = {
        {&view_argp, 0, NULL, 0},
        {0},
    };
    static const struct argp argp = {options,  parse, "[TRACE]", help_text,
                                     children, 0,     0};
    static struct request request = {.view.input = "x.trace", .output = "-"};
    size_t format;
    FILE *out;
    bool fine;

    argp_parse(&argp, argc, argv, 0, NULL, &request);
    format = format_of(&request);
    request.view.lines = formats[format].has_lines;
    view_open(&request.view);
    out = opened(&request, formats[format].is_text);
    fine = formats[format].write(&request.view, out);
    if (fclose(out) != 0 || !fine)
        fail("%s: cannot be written: %s", request.output, strerror(errno));
    view_close(&request.view);
    return STATUS_FINE;
}
