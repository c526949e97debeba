/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line. A word is given to exactly one owner, so that no key can
 * mean two things; and a mistake in it costs a line on the console and not the
 * boot: whoever typed it wants to see what the image does without it.
 */

#include "options.h"

#include <kernel/console.h>
#include <kernel/service.h>
#include <prof/error.h>
#include <prof/prof.h>
#include <stdbool.h>
#include <string.h>

#define WORD_MAX 128u

/* What is in force when the service has no options of its own. */
__attribute__((weak)) bool service_option(const char *key, const char *value)
{
    (void)key;
    (void)value;
    return false;
}

static void complain(const char *word, const char *why)
{
    console_line("options: \"%s\" ignored: %s", word, why);
}

/* (word) may be written to: the '=' becomes the end of the key. */
static void apply(char *word)
{
    char *equals = strchr(word, '=');

    if (equals == NULL || equals == word) {
        complain(word, "not of the form key=value");
    } else if (strncmp(word, "prof.", 5) == 0) {
        int error = prof_option(word);

        if (error != 0)
            complain(word, prof_strerror(error));
    } else {
        *equals = '\0';
        bool taken = service_option(word, equals + 1);

        *equals = '=';
        if (!taken)
            complain(word, "the service has no use for it");
    }
}

void options_apply(const char *command_line)
{
    static const char blanks[] = " \t\r\n";
    const char *rest = command_line + strspn(command_line, blanks);

    for (bool first = true; *rest != '\0'; first = false) {
        char word[WORD_MAX];
        size_t bytes = strcspn(rest, blanks);
        size_t kept = bytes < WORD_MAX ? bytes : WORD_MAX - 1;

        memcpy(word, rest, kept);
        word[kept] = '\0';
        rest += bytes;
        rest += strspn(rest, blanks);
        if (first && strchr(word, '=') == NULL)
            continue;
        if (kept < bytes)
            complain(word, "longer than 127 characters");
        else
            apply(word);
    }
}
