/* SPDX-License-Identifier: Apache-2.0 */
/* parasite annotate: functions by source line and by instruction. */

#include "annotate/annotate.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/output.h"
#include "cli/arguments.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIMIT_TEXT 5.0 /* percent of all samples that a function must have */
#define LIMIT_PAGE 1.0

static struct view selection;
static struct annotate request = {
    .view = &selection, .limit = -1, .color = "auto"};

static const char help_text[] =
    "Show the hottest functions, or the named ones, by source line and "
    "by instruction."
    "\vA FUNCTION is a whole name; for C++ and Rust the part before the "
    "parameters is enough.\n\n"
    "For example:\n"
    "  parasite annotate x.trace\n"
    "  parasite annotate -l leaf_a x.trace\n"
    "  parasite annotate --percent-limit 0.5 -o x.html x.trace";

static void set_limit(char *word)
{
    request.limit = arguments_number("--percent-limit", word, 0, 100);
}

static void set_style(char *word)
{
    if (strcmp(word, "att") != 0 && strcmp(word, "intel") != 0)
        die_usage("-M is intel or att, not '%s'", word);
    request.att = *word == 'a';
}

static bool take_wanted(char *word)
{
    VECTOR_ADD(request.wanted, request.wanted_count, word);
    return true;
}

static const struct argument options[] = {
    {"lines", 'l', NULL, "show source lines without instructions",
     .flag = &request.by_line},
    {"output", 'o', "FILE",
     "write an HTML page to FILE.html, or JSON to FILE.json",
     .text = &request.output},
    {"json", 0, NULL, "print JSON", .flag = &request.json},
    {"percent-limit", 0, "PERCENT",
     "hide functions below PERCENT (5; 1 in a page or JSON)",
     .take = set_limit},
    {"all", 0, NULL, "show code without samples too", .flag = &request.all},
    {"disassembler-style", 'M', "STYLE", "intel (default) or att",
     .take = set_style},
    {"source", 0, "FOLDER",
     "show source files below FOLDER, too, and look for them there",
     .text = &request.listing.folder},
    {"color", 0, "WHEN", "always, never or auto (default)",
     .text = &request.color, .take = arguments_color},
    {0},
};

static const struct command_line line = {options,
                                         "[FUNCTION...] [TRACE] [FUNCTION...]",
                                         help_text,
                                         .take = take_wanted,
                                         .child = &view_options,
                                         .child_owner = &selection};

static bool is_folder(const char *path)
{
    struct stat about;

    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

/* Which of the arguments is the trace, wanted_count if none is: a folder, or
 * the last or the first one that is a file. */
static size_t find_trace(const struct annotate *annotate)
{
    size_t count = annotate->wanted_count;

    for (size_t i = count; i-- > 0;)
        if (is_folder(annotate->wanted[i]))
            return i;
    if (count > 0 && access(annotate->wanted[count - 1], F_OK) == 0)
        return count - 1;
    return count > 0 && access(annotate->wanted[0], F_OK) == 0 ? 0 : count;
}

/* Without -i one of the words may be the trace, the first or the last. */
static void take_trace(struct annotate *annotate)
{
    size_t at = find_trace(annotate);

    if (annotate->view->input == NULL) {
        annotate->view->input = "x.trace";
        if (at < annotate->wanted_count) {
            annotate->view->input = annotate->wanted[at];
            --annotate->wanted_count;
            memmove(&annotate->wanted[at], &annotate->wanted[at + 1],
                    (annotate->wanted_count - at) * sizeof *annotate->wanted);
        }
    }
    for (size_t i = 0; i < annotate->wanted_count; ++i)
        if (is_folder(annotate->wanted[i]))
            die_usage("one trace at a time: '%s' or '%s'?", annotate->wanted[i],
                      annotate->view->input);
}

/* The ending of the file name says what is written, as with `export`. */
static void choose_output(struct annotate *annotate)
{
    bool is_text = annotate->output == NULL && !annotate->json;
    const char *ending =
        annotate->output != NULL ? arguments_ending(annotate->output) : "";
    bool is_page = strcmp(ending, ".html") == 0 || strcmp(ending, ".htm") == 0;

    if (strcmp(ending, ".json") == 0)
        annotate->json = true;
    else if (*ending != '\0' && !is_page)
        die_usage("%s: '%s' is not supported; give .html for a page or .json",
                  annotate->output, ending);
    if (annotate->json && is_page)
        die_usage("%s: --json does not write a page", annotate->output);
    if (annotate->by_line && !is_text)
        die_usage("-l is for text; a page and JSON have both lines and "
                  "instructions");
}

/* Whether the function (symbol), displayed as (name), is the (wanted) one. */
static bool is_called(const char *wanted, const char *name, const char *symbol)
{
    size_t bytes = strlen(wanted);

    return strcmp(wanted, symbol) == 0 ||
           (strncmp(wanted, name, bytes) == 0 &&
            (name[bytes] == '\0' || name[bytes] == '('));
}

static bool in_image(struct annotate *annotate, const char *wanted)
{
    const struct image *image = &annotate->view->image;

    for (size_t i = 0; i < image->count; ++i) {
        const char *symbol = image->functions[i].name;

        if (is_called(wanted, annotate->view->names.readable(symbol), symbol))
            return true;
    }
    return false;
}

/* Moves those called (wanted) to the front. */
static void choose_called(struct annotate *annotate, const char *wanted)
{
    size_t before = annotate->shown;

    for (size_t i = before; i < annotate->function_keys.count; ++i) {
        struct annotate_function *at = &annotate->functions[i], chosen = *at;

        if (!is_called(wanted, annotate_name(annotate, at->name),
                       at->symbol->name))
            continue;
        memmove(&annotate->functions[annotate->shown + 1],
                &annotate->functions[annotate->shown],
                (i - annotate->shown) * sizeof chosen);
        annotate->functions[annotate->shown++] = chosen;
    }
    if (annotate->shown > before)
        return;
    if (in_image(annotate, wanted))
        die("%s: no samples in this function", wanted);
    die("%s: no such function, and no such trace", wanted);
}

static void choose_hottest(struct annotate *annotate, double limit)
{
    for (; annotate->shown < annotate->function_keys.count; ++annotate->shown) {
        const struct annotate_function *next =
            &annotate->functions[annotate->shown];

        if (annotate_percent(annotate, &next->self, &annotate->sum) < limit)
            break;
    }
}

static void choose_functions(struct annotate *annotate)
{
    bool is_document = annotate->json || annotate->output != NULL;

    for (size_t i = 0; i < annotate->wanted_count; ++i)
        choose_called(annotate, annotate->wanted[i]);
    if (annotate->wanted_count > 0)
        return;
    if (annotate->limit >= 0) {
        choose_hottest(annotate, annotate->limit);
        return;
    }
    choose_hottest(annotate, is_document ? LIMIT_PAGE : LIMIT_TEXT);
    if (annotate->shown == 0 && annotate->function_keys.count > 0)
        annotate->shown = 1;
}

static void collect_samples(struct annotate *annotate)
{
    annotate->view->lines = true;
    view_open(annotate->view);
    if (annotate->view->names.image == NULL)
        die("the instructions are in the image; give it with -k");
    annotate_count(annotate);
    if (annotate->sum.samples == 0)
        die("%s: %s", annotate->view->input, view_why_empty(annotate->view));
    choose_functions(annotate);
    if (!annotate_disassemble(annotate))
        exit(STATUS_DATA);
    annotate_find_lines(annotate);
}

bool annotate_write_view(struct view *view, double percent, FILE *out)
{
    struct annotate annotate = {.view = view, .is_served = true};
    bool fine;

    annotate_count(&annotate);
    choose_hottest(&annotate, percent);
    fine = annotate_disassemble(&annotate);
    if (fine) {
        annotate_find_lines(&annotate);
        fine = annotate_write_page(&annotate, out);
    }
    annotate_close(&annotate);
    return fine;
}

static void write_out(struct annotate *annotate)
{
    bool to_file =
        annotate->output != NULL && strcmp(annotate->output, "-") != 0;
    FILE *out = to_file ? fopen(annotate->output, "wb") : stdout;
    bool fine = out != NULL;

    if (annotate->output == NULL && !annotate->json)
        pager_start();
    if (fine && annotate->json)
        fine = annotate_write_json(annotate, out);
    else if (fine && annotate->output != NULL)
        fine = annotate_write_page(annotate, out);
    else if (fine)
        annotate_print(annotate);
    if (to_file && (!fine || fclose(out) != 0))
        die("%s: cannot be written: %s", annotate->output, strerror(errno));
}

int command_annotate(int argc, char **argv)
{
    arguments_parse(&line, argc, argv);
    take_trace(&request);
    choose_output(&request);
    collect_samples(&request);
    write_out(&request);
    if (request.listing.missing > 0)
        log_info("%zu source file%s could not be read, such as %s; --source "
                 "says where to look",
                 request.listing.missing,
                 request.listing.missing == 1 ? "" : "s",
                 request.listing.first_missing);
    if (request.listing.left_out > 0)
        log_info("%zu source file%s left out, such as %s: only files below the "
                 "current folder are shown; --source FOLDER allows those below "
                 "FOLDER",
                 request.listing.left_out,
                 request.listing.left_out == 1 ? " is" : "s are",
                 request.listing.first_left_out);
    annotate_close(&request);
    view_close(&selection);
    return STATUS_OK;
}
