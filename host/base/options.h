/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_OPTIONS_H
#define BASE_OPTIONS_H

/* Options of the command line as tables; cli/arguments.c parses them. */

#include <stdbool.h>
#include <stddef.h>

/* An option; the end of a table has no name and no letter. */
struct argument {
    const char *name;
    char letter;      /* 0 = none */
    const char *word; /* what --help calls its word; NULL = it takes none */
    const char *help;

    /* what it does; words live as long as the process */
    bool *flag;               /* set */
    const char **text;        /* set to its word */
    void (*take)(char *word); /* called with its word */

    /* the same of a set's owner: offsets in it, 0 = none */
    size_t flag_at;
    size_t text_at;
    void (*take_for)(void *owner, char *word);

    bool hidden;      /* not in --help */
    bool is_optional; /* its word may be left out: NULL */
    int group;        /* in --help, in their order */
};

/* Options that several commands have, and words that are none, of an owner. */
struct argument_set {
    const struct argument *options;
    const struct argument_set *also; /* of the same owner, or NULL */
    void (*take)(void *owner, char *word);
    void (*begin)(void *owner); /* sets defaults, or NULL */
};

#endif
