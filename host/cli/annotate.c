/* SPDX-License-Identifier: Apache-2.0 */
/* parasite annotate: functions by source line and by instruction. */

#include "annotate/annotate.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/pager.h"
#include "cli/arguments.h"
#include "cli/commands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIMIT_TEXT 5.0 /* percent of all samples that a function must have */
#define LIMIT_PAGE 1.0

enum { KEY_LIMIT = 512, KEY_JSON, KEY_ALL, KEY_COLOR, KEY_SOURCE };

static const char help_text[] =
    "Show the hottest functions, or the named ones, by source line and "
    "by instruction."
    "\vA FUNCTION is a whole name; for C++ and Rust the part before the "
    "parameters is enough.\n\n"
    "For example:\n"
    "  parasite annotate x.trace\n"
    "  parasite annotate -l leaf_a x.trace\n"
    "  parasite annotate --percent-limit 0.5 -o x.html x.trace";

static const struct argp_option options[] = {
    {"lines", 'l', NULL, 0, "show source lines without instructions", 0},
    {"output", 'o', "FILE", 0,
     "write an HTML page to FILE.html, or JSON to FILE.json", 0},
    {"json", KEY_JSON, NULL, 0, "print JSON", 0},
    {"percent-limit", KEY_LIMIT, "PERCENT", 0,
     "hide functions below PERCENT (5; 1 in a page or JSON)", 0},
    {"all", KEY_ALL, NULL, 0, "show code without samples too", 0},
    {"disassembler-style", 'M', "STYLE", 0, "intel (default) or att", 0},
    {"source", KEY_SOURCE, "FOLDER", 0,
     "show source files below FOLDER, and look for them there", 0},
    {"color", KEY_COLOR, "WHEN", 0, "always, never or auto (default)", 0},
    {0},
};

static double percent_of(const char *word)
{
    char *end;
    double percent = strtod(word, &end);

    if (end == word || *end != '\0' || !(percent >= 0 && percent <= 100))
        die_usage("--percent-limit takes 0 to 100, not '%s'", word);
    return percent;
}

static bool is_att(const char *word)
{
    if (strcmp(word, "att") != 0 && strcmp(word, "intel") != 0)
        die_usage("-M is intel or att, not '%s'", word);
    return *word == 'a';
}

static error_t parse_form(int key, char *word, struct annotate *annotate)
{
    switch (key) {
    case KEY_JSON:
        annotate->json = true;
        break;
    case KEY_ALL:
        annotate->all = true;
        break;
    case KEY_COLOR:
        annotate->color = color_when(word);
        break;
    case KEY_SOURCE:
        annotate->listing.folder = word;
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static error_t parse(int key, char *word, struct argp_state *state)
{
    struct annotate *annotate = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = annotate->view;
        break;
    case ARGP_KEY_ARG:
        vector_reserve_one(&annotate->wanted, annotate->wanted_count,
                           sizeof word);
        annotate->wanted[annotate->wanted_count++] = word;
        break;
    case 'l':
        annotate->by_line = true;
        break;
    case 'o':
        annotate->output = word;
        break;
    case 'M':
        annotate->att = is_att(word);
        break;
    case KEY_LIMIT:
        annotate->limit = percent_of(word);
        break;
    default:
        return parse_form(key, word, annotate);
    }
    return 0;
}

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

/* Without -i one of the arguments may be the trace, before the functions or
 * after them. */
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

/* Those with at least (limit) percent. */
static void choose_hottest(struct annotate *annotate, double limit)
{
    for (; annotate->shown < annotate->function_keys.count; ++annotate->shown) {
        const struct annotate_function *next =
            &annotate->functions[annotate->shown];

        if (annotate_percent(annotate, &next->self, &annotate->sum) < limit)
            break;
    }
}

static void choose(struct annotate *annotate)
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

static void collect(struct annotate *annotate)
{
    annotate->view->lines = true;
    view_open(annotate->view);
    if (annotate->view->names.image == NULL)
        die("the instructions are in the image; give it with -k");
    annotate_count(annotate);
    if (annotate->sum.samples == 0)
        die("%s: %s", annotate->view->input, view_why_empty(annotate->view));
    choose(annotate);
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
    static const struct argp_child children[] = {
        {&view_argp, 0, NULL, 0},
        {0},
    };
    static const struct argp argp = {
        options,   parse,    "[FUNCTION...] [TRACE] [FUNCTION...]",
        help_text, children, 0,
        0};
    static struct view view;
    static struct annotate annotate = {
        .view = &view, .limit = -1, .color = "auto"};

    arguments_parse(&argp, argc, argv, &annotate);
    take_trace(&annotate);
    choose_output(&annotate);
    collect(&annotate);
    write_out(&annotate);
    if (annotate.listing.missing > 0)
        log_info("%zu source file%s could not be read, such as %s; --source "
                 "says where to look",
                 annotate.listing.missing,
                 annotate.listing.missing == 1 ? "" : "s",
                 annotate.listing.first_missing);
    if (annotate.listing.left_out > 0)
        log_info("%zu source file%s left out, such as %s: only files below the "
                 "current folder are shown; --source FOLDER allows those below "
                 "FOLDER",
                 annotate.listing.left_out,
                 annotate.listing.left_out == 1 ? " is" : "s are",
                 annotate.listing.first_left_out);
    annotate_close(&annotate);
    view_close(&view);
    return STATUS_OK;
}
