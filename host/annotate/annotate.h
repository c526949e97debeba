/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ANNOTATE_ANNOTATE_H
#define ANNOTATE_ANNOTATE_H

/*
 * Functions in detail: the samples at each instruction and source line. A
 * function is a symbol of the image, up to its end or the next one, as in the
 * report: its instructions and its lines add up to its self. A sample belongs
 * to the instruction that would have been executed next. Bytes that are no
 * instruction are shown as bytes, so that every sample is shown.
 */

#include "annotate/source_text.h"
#include "profile/view.h"

#include <stdio.h>

struct annotate_hit {
    uint64_t address;
    struct model_count self;
};

struct annotate_code {
    uint64_t address;
    uint32_t bytes;
    char *text;
    uint32_t file; /* a number of view.names.strings, 0 = unknown */
    uint32_t line;
    uint32_t inlined; /* the same: names, innermost first, separated by '\n' */
    struct model_count self;
};

/* A source line that has code of the function, or is between such lines. */
struct annotate_line {
    uint32_t file; /* 0 = instructions whose line is unknown */
    uint32_t line;
    bool has_code;
    struct model_count self;
};

struct annotate_function {
    const struct image_symbol *symbol;
    uint64_t end;
    uint32_t name;
    struct model_count self;
    struct annotate_code *code; /* by address */
    size_t code_count;
    struct annotate_line *lines; /* the hottest file first, then by number */
    size_t line_count;
};

struct annotate {
    struct view *view;
    const char **wanted; /* names, none = the hottest */
    size_t wanted_count;
    double limit; /* percent, -1 = default */
    bool json;
    bool is_served; /* by `parasite open`, beside its other pages */
    bool by_line;
    bool all; /* show code without samples too */
    bool att; /* AT&T syntax instead of Intel's */
    const char *output;
    const char *color;
    struct listing listing;

    struct model_count sum; /* of all selected samples */
    struct annotate_hit *hits;
    struct index hit_keys;               /* address */
    struct annotate_function *functions; /* the hottest first */
    struct index function_keys;          /* address */
    size_t shown;                        /* how many are shown */
};

/* Finds functions and hits, sorted, without code and lines. */
void annotate_count(struct annotate *annotate);

/* Disassembles the shown functions and distributes the hits. Returns whether
 * the image could be read; if not, an error was printed. */
bool annotate_disassemble(struct annotate *annotate);

/* Assigns source lines to instructions, and lists the lines. */
void annotate_find_lines(struct annotate *annotate);

/* Percent of (whole). */
double annotate_percent(const struct annotate *annotate,
                        const struct model_count *count,
                        const struct model_count *whole);

const char *annotate_name(const struct annotate *annotate, uint32_t number);

void annotate_print(struct annotate *annotate);

/* Write to (out). Return false on failure. */
bool annotate_write_json(struct annotate *annotate, FILE *out);
bool annotate_write_page(struct annotate *annotate, FILE *out);

/* Writes the page of (view), which is open and has an image, with its functions
 * of at least (percent). Returns whether it was written. */
bool annotate_write_view(struct view *view, double percent, FILE *out);

/* The view stays open. */
void annotate_close(struct annotate *annotate);

#endif
