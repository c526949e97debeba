/* SPDX-License-Identifier: Apache-2.0 */
/* The IRC server reads a line and looks for a channel. A Slice is passed as
 * its two members are. */

#include "causal/services/slow.h"
#include <stdbool.h>
#include <stddef.h>

#define PARSE_CYCLES 3000u
#define LOOKUP_CYCLES 6000u

#define PARSE "_ZN3irc7Message5parseENS_5SliceE"
#define FIND "_ZNK3irc6Server12find_channelENS_5SliceE"

bool real_parse(void *message, const char *text,
                size_t count) __asm__("__real_" PARSE);
bool wrap_parse(void *message, const char *text,
                size_t count) __asm__("__wrap_" PARSE);
void *real_find(const void *server, const char *text,
                size_t count) __asm__("__real_" FIND);
void *wrap_find(const void *server, const char *text,
                size_t count) __asm__("__wrap_" FIND);

__attribute__((noinline)) static bool slow_parse(void *message,
                                                 const char *text, size_t count)
{
    uint64_t since = slow_now();
    bool good = real_parse(message, text, count);

    slow_done(SLOW_PARSE, since, PARSE_CYCLES);
    return good;
}

bool wrap_parse(void *message, const char *text, size_t count)
{
    return slow_parse(message, text, count);
}

__attribute__((noinline)) static void *
slow_lookup(const void *server, const char *text, size_t count)
{
    uint64_t since = slow_now();
    void *found = real_find(server, text, count);

    slow_done(SLOW_LOOKUP, since, LOOKUP_CYCLES);
    return found;
}

void *wrap_find(const void *server, const char *text, size_t count)
{
    void *found = slow_lookup(server, text, count);

    slow_visit(); /* once for each message, and each client that joins */
    return found;
}
