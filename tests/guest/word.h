/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_GUEST_WORD_H
#define TESTS_GUEST_WORD_H

/*
 * What a test is to do, by an option of its own: the value of the last one on
 * the command line that is nobody else's (lib/word.c), whatever its key.
 */

#include <stdbool.h>
#include <string.h>

extern char guest_word[32]; /* "" without any */

static inline bool guest_is(const char *word)
{
    return strcmp(guest_word, word) == 0;
}

#endif
