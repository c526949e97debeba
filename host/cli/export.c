/* SPDX-License-Identifier: Apache-2.0 */
/* parasite export: a trace in another tool's format. */

#define _GNU_SOURCE /* fopencookie() */

#include "export/export.h"

#include "base/log.h"
#include "base/output.h"
#include "cli/arguments.h"
#include "profile/weigh.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

static struct request {
    struct view view;
    const char *format;
    const char *output;
} request = {.view.input = "x.trace", .output = "-"};

static const struct export_format formats[] = {
    {"folded", export_folded, true, false, false, false},
    {"pprof", export_pprof, false, true, true, false},
    {"perf", export_perf, false, false, false, false},
    {"firefox", export_firefox, true, false, true, false},
    {"chrome", export_chrome, true, false, false, true},
    {"perfetto", export_perfetto, false, false, true, true},
    {"callgrind", export_callgrind, true, false, true, false},
};
#define FORMATS (sizeof formats / sizeof formats[0])

#define FORMAT_NAMES "folded, pprof, perf, firefox, chrome, perfetto, callgrind"

/* File name suffixes and their formats; the first match counts. */
static const struct {
    const char *suffix;
    const char *format;
} suffixes[] = {
    /* clang-format off */
    {".folded", "folded"},
    {".txt", "folded"},
    {".pprof", "pprof"},
    {".pb", "pprof"},
    {".data", "perf"},
    {".perf", "perf"},
    {".trace.json", "chrome"},
    {".json", "firefox"},
    {".perfetto-trace", "perfetto"},
    {".pftrace", "perfetto"},
    {".callgrind", "callgrind"},
    /* clang-format on */
};
#define SUFFIXES (sizeof suffixes / sizeof suffixes[0])

static const char help_text[] =
    "Convert a trace to another tool's format."
    "\vFORMAT is one of\n\n"
    "  folded     flamegraph.pl, speedscope, inferno\n"
    "  pprof      go tool pprof, Pyroscope, Parca\n"
    "  perf       perf report, annotate and script; hotspot\n"
    "  firefox    profiler.firefox.com\n"
    "  chrome     Perfetto, about:tracing, Tracy, speedscope\n"
    "  perfetto   ui.perfetto.dev\n"
    "  callgrind  kcachegrind, callgrind_annotate\n\n"
    "Without -f the name of FILE selects the format: .folded or .txt, .pprof "
    "or .pb, .data or .perf, .json (firefox), .trace.json (chrome), "
    ".perfetto-trace or .pftrace, .callgrind or callgrind.out*. A .gz after "
    "it compresses; pprof is always compressed.\n\n"
    "For example:\n"
    "  parasite export -f folded x.trace | flamegraph.pl >x.svg\n"
    "  parasite export -o x.pb.gz x.trace && go tool pprof -top x.pb.gz\n"
    "  parasite export -o perf.data x.trace && perf report\n"
    "  parasite export -o x.json.gz x.trace\n"
    "  parasite export -o x.perfetto-trace --time 2,3 x.trace\n"
    "  parasite export -o callgrind.out.1 x.trace && "
    "callgrind_annotate callgrind.out.1";

static const struct argument options[] = {
    {"format", 'f', "FORMAT", FORMAT_NAMES, .text = &request.format},
    {"output", 'o', "FILE", "write to FILE (stdout)", .text = &request.output},
    {0},
};

static const struct command_line line = {options, "[TRACE]", help_text,
                                         .child = &weigh_options,
                                         .child_owner = &request.view};

static bool ends_with(const char *text, size_t bytes, const char *suffix)
{
    size_t end = strlen(suffix);

    return bytes >= end && memcmp(text + bytes - end, suffix, end) == 0;
}

static bool is_gzip(const char *output)
{
    return ends_with(output, strlen(output), ".gz");
}

/* The format for a file name, or NULL. */
static const char *format_of_name(const char *output)
{
    size_t bytes = strlen(output) - (is_gzip(output) ? 3 : 0);
    const char *slash = strrchr(output, '/');
    const char *name = slash != NULL ? slash + 1 : output;

    for (size_t i = 0; i < SUFFIXES; ++i) {
        if (ends_with(output, bytes, suffixes[i].suffix))
            return suffixes[i].format;
    }
    return strncmp(name, "callgrind.out", strlen("callgrind.out")) == 0
               ? "callgrind"
               : NULL;
}

const struct export_format *export_format(const char *name)
{
    for (size_t i = 0; i < FORMATS; ++i) {
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    }
    return NULL;
}

static const struct export_format *format_wanted(void)
{
    const char *name = request.format != NULL ? request.format
                                              : format_of_name(request.output);
    const struct export_format *format =
        name != NULL ? export_format(name) : NULL;

    if (name == NULL)
        die_usage("give the format with -f: " FORMAT_NAMES);
    if (format == NULL)
        die_usage("unknown format '%s'; -f takes " FORMAT_NAMES, name);
    return format;
}

static FILE *open_output(bool is_text)
{
    if (strcmp(request.output, "-") == 0 && !is_text && isatty(STDOUT_FILENO))
        die_usage("not writing binary data to a terminal; give a file with -o");
    return output_open(request.output);
}

/* zlib takes an int at once. */
#define PIECE_BYTES (1u << 20)

static ssize_t write_piece(void *cookie, const char *bytes, size_t count)
{
    unsigned piece = count < PIECE_BYTES ? (unsigned)count : PIECE_BYTES;
    int written = gzwrite(cookie, bytes, piece);

    return written > 0 ? written : 0; /* a cookie reports errors as 0 */
}

static int close_stream(void *cookie)
{
    if (gzclose(cookie) == Z_OK)
        return 0;
    errno = EIO;
    return -1;
}

/* A stream that compresses what is written to it into (out), which fclose()
 * leaves open. NULL and errno if it cannot be made. */
static FILE *gzip_over(FILE *out)
{
    static const cookie_io_functions_t functions = {
        .write = write_piece,
        .close = close_stream,
    };
    int copy = fflush(out) == 0 ? dup(fileno(out)) : -1;
    gzFile file = copy >= 0 ? gzdopen(copy, "wb") : NULL;
    FILE *stream = file != NULL ? fopencookie(file, "wb", functions) : NULL;

    if (stream == NULL && file != NULL)
        gzclose(file);
    else if (stream == NULL && copy >= 0)
        close(copy);
    return stream;
}

bool export_write(const struct export_format *format, bool gzip,
                  struct view *view, FILE *out)
{
    FILE *stream;
    bool fine;

    if (!gzip && !format->is_gzip)
        return format->write(view, out);
    stream = gzip_over(out);
    if (stream == NULL)
        return false;
    fine = format->write(view, stream);
    return fclose(stream) == 0 && fine;
}

static bool is_any_selected(struct view *view)
{
    struct view_stack stack = {0};

    while (view_next(view, &stack)) {
        if (stack.cell->count.samples > 0)
            return true;
    }
    return false;
}

int command_export(int argc, char **argv)
{
    const struct export_format *format;
    FILE *out;
    bool fine;

    arguments_parse(&line, argc, argv);
    format = format_wanted();
    request.view.lines = format->has_lines;
    view_read(&request.view, format->has_tasks);
    view_open_names(&request.view);
    weigh_open(&request.view);
    if (!is_any_selected(&request.view))
        log_info("%s: %s; the output is empty", request.view.input,
                 view_why_empty(&request.view));
    out = open_output(format->is_text && !is_gzip(request.output));
    fine = export_write(format, is_gzip(request.output), &request.view, out);
    output_close(out, request.output, fine);
    view_close(&request.view);
    return STATUS_OK;
}
