/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IMAGE_LINE_CODE_H
#define IMAGE_LINE_CODE_H

/*
 * Where the code of a line of source is, or that of a function with all of its
 * inlined copies. Code of an inlined function belongs to its own lines, and to
 * the one that it was inlined into.
 */

#include "image/image.h"

/* A range of addresses, half-open, of a line; or of a copy of a function. */
struct code_piece {
    uint64_t begin;
    uint64_t end;
    uint32_t source; /* from 1 on, 0 = of no line */
    uint32_t line;
    const char *function; /* as it is shown, or NULL */
    bool inlined;         /* it is that function's, where it was inlined */
    uint32_t copy;        /* number of the copy, in any order */
};

struct line_code {
    const char *image; /* its path, for messages */
    char **sources;    /* paths */
    size_t source_count;
    struct code_piece *pieces;
    size_t piece_count;
};

struct code_range {
    uint64_t begin;
    uint64_t end;
};

/* What was found, to be freed: sorted, and none touches another. */
struct code_ranges {
    struct code_range *at;
    size_t count;
    size_t inlined; /* copies of a function: inlined ones */
    bool itself;    /* and itself */
};

enum line_code_result {
    LINE_CODE_FOUND,
    LINE_CODE_SYMBOL, /* no line, and no function that was inlined */
    LINE_CODE_BAD,    /* (why) says what is wrong */
};

/* Finds "FILE:LINE", where FILE may be the end of a path, or a function's name.
 * (why) has room for IMAGE_WHY_MAX. */
enum line_code_result line_code_find(const struct line_code *code,
                                     const char *text,
                                     struct code_ranges *ranges, char *why);

/* Whether (text) is "FILE:LINE". */
bool line_code_is_line(const char *text);

/*
 * The guest's words for (ranges) of what is called (text), each of (room) bytes
 * at most with its NUL: "main.c:42@148060+12,1480a0+8". To be freed by
 * line_code_free_words(). NULL, with the reason in (why): they are too many.
 */
char **line_code_words(const struct code_ranges *ranges, const char *text,
                       size_t room, size_t *count, char *why);
void line_code_free_words(char **words, size_t count);

/* Reads lines and inlined functions of (image); nothing if it has no debug
 * information. dwarf.c */
void line_code_read(struct line_code *code, struct image *image);
void line_code_free(struct line_code *code);

#endif
