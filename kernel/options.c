/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line. A word is given to exactly one owner, so that no key can
 * mean two things; and a mistake in it costs a line on the console and not the
 * boot: whoever typed it wants to see what the image does without it.
 */

#include "options.h"

#include "clock.h"
#include "vitals.h"

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

/* The same without a network: kernel/net brings the true one along. */
__attribute__((weak)) bool net_option(const char *key, const char *value)
{
    (void)key;
    (void)value;
    return false;
}

static void complain(const char *word, const char *why)
{
    console_line("options: \"%s\" ignored: %s", word, why);
}

/* Gives (key) to its owner. Returns what is wrong with it, NULL for nothing. */
static const char *give(const char *key, const char *value)
{
    if (strcmp(key, "clock") == 0)
        return clock_option(value) ? NULL
                                   : "the clock is not one of cmos and tsc";
    if (strcmp(key, "vitals") == 0)
        return vitals_option(value) ? NULL : "not 1 to 3600000 milliseconds";
    if (strncmp(key, "net.", 4) == 0)
        return net_option(key, value)
                   ? NULL
                   : "no such setting of the network, or none here";
    return service_option(key, value) ? NULL : "the service has no use for it";
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
        const char *why = give(word, equals + 1);

        *equals = '=';
        if (why != NULL)
            complain(word, why);
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
