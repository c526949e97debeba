/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IMAGE_TARGETS_H
#define IMAGE_TARGETS_H

/*
 * Targets of causal profiling as the guest understands them. A line of source,
 * "main.c:42", and a function that was inlined become ranges of code, by the
 * image's debug information; whatever else is given is the guest's to find.
 */

#include <stdbool.h>
#include <stddef.h>

/* Bytes of a word of the guest's command line, and of a command, with NUL. */
#define TARGETS_WORD_MAX 128

/*
 * What "prof.target=NAME" or a command with (prefix) has to say of the target
 * (name), in words that begin with (prefix). The array and the words are to be
 * freed. (image) is its path, NULL if unknown. Ends the process with a line
 * that says what is wrong: no such file, no code at the line, and so on.
 */
char **targets_words(const char *image, const char *prefix, const char *name,
                     size_t *count);

/* (line), a guest's command line, with its targets in such words; to be freed.
 * The same ends the process. */
char *targets_of_line(const char *image, const char *line);

#endif
