/* SPDX-License-Identifier: Apache-2.0 */
/* parasite causal: what would become faster, and by how much. */

#include "base/log.h"
#include "base/memory.h"
#include "base/output.h"
#include "base/text.h"
#include "causal/causal.h"
#include "cli/arguments.h"
#include "image/targets.h"
#include "trace/trace.h"

#include <stdlib.h>
#include <string.h>

static struct {
    const char *input;
    const char *output; /* a page; NULL = none */
    const char *coz;    /* a profile for Coz's viewer; NULL = none */
    const char *image;  /* whose lines (targets) are; NULL = none */
    char **targets;     /* instead: their options for the guest */
    size_t target_count;
    bool json;
} request = {.input = "x.trace"};

static const char help_text[] =
    "Show what the guest's experiments say: by how much the time for a unit of "
    "work becomes shorter if a target is faster, with 95 % intervals, and "
    "what limits it."
    "\vThe columns: the part of the time that is spent in the target at normal "
    "speed, and the gain at each speed-up. --coz writes the format of Coz's "
    "viewer; as lines of JSON, if the name ends in .jsonl. "
    "With --target nothing is read but the image: it prints the words by which "
    "the command line of a guest names a line of source, FILE:LINE, or a "
    "function with its inlined copies. record does that by itself.\n\n"
    "For example:\n"
    "  parasite causal x.trace\n"
    "  parasite causal -o causal.html x.trace\n"
    "  parasite causal --coz profile.coz x.trace\n"
    "  parasite causal --target levels.c:16 -k image.elf\n"
    "  parasite causal --json x.trace | jq '.points[].curves[].slope'";

static void add_target(char *word)
{
    VECTOR_ADD(request.targets, request.target_count, word);
}

static const struct argument options[] = {
    {"output", 'o', "PAGE", "write a page with the curves, - is stdout",
     .text = &request.output},
    {"coz", 0, "FILE", "write a profile for Coz's viewer",
     .text = &request.coz},
    {"json", 'j', NULL, "print JSON", .flag = &request.json},
    {"target", 'T', "NAME",
     "instead: print the guest's option for this target, a line or a function; "
     "may be repeated",
     .take = add_target},
    {"kernel", 'k', "IMAGE", "the guest's ELF image, for --target",
     .text = &request.image},
    {"quiet", 'q', NULL, "no messages except errors, and no headers",
     .flag = &log_quiet},
    {0},
};

static const struct command_line line = {options, "[TRACE]", help_text,
                                         .trace = &request.input};

static void take_packet(void *causal, const struct packet *packet)
{
    causal_take(causal, packet);
}

static void read_trace(struct causal *causal, const char *path)
{
    struct packet_sink sink = {take_packet, causal};
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
    output_close(out, path, fine);
    if (!log_quiet && strcmp(path, "-") != 0)
        log_summary("[ %s: wrote %s ]", log_name, path);
}

static void write_files(const struct causal *causal)
{
    const char *title = path_name(request.input);
    FILE *out;

    if (request.output != NULL) {
        out = output_open(request.output);
        close_file(out, causal_write_page(causal, title, out), request.output);
    }
    if (request.coz != NULL) {
        const char *ending = arguments_ending(request.coz);
        bool lines = strcmp(ending, ".jsonl") == 0;

        out = output_open(request.coz);
        close_file(out, causal_write_coz(causal, lines, out), request.coz);
    }
}

static void print_targets(void)
{
    for (size_t i = 0; i < request.target_count; ++i) {
        size_t count;
        char **words = targets_words(
            request.image, "prof.target=", request.targets[i], &count);

        for (size_t j = 0; j < count; ++j) {
            puts(words[j]);
            free(words[j]);
        }
        free(words);
    }
    free(request.targets);
}

int command_causal(int argc, char **argv)
{
    static struct causal causal;
    bool fine = true;

    arguments_parse(&line, argc, argv);
    if (request.target_count > 0) {
        print_targets();
        return STATUS_OK;
    }
    read_trace(&causal, request.input);
    write_files(&causal);
    if (request.json) {
        fine = causal_write_json(&causal, path_name(request.input), stdout);
    } else if (request.output == NULL && request.coz == NULL) {
        pager_start();
        causal_print(&causal, stdout);
    }
    causal_free(&causal);
    return fine ? STATUS_OK : STATUS_DATA;
}
