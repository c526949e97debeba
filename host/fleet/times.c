/* SPDX-License-Identifier: Apache-2.0 */
/* Which time is meant. */

#define _GNU_SOURCE /* strptime(), timegm() */

#include "fleet/fleet.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static bool fits(int64_t seconds, uint32_t *to)
{
    if (seconds < 0 || seconds > UINT32_MAX)
        return false;
    *to = (uint32_t)seconds;
    return true;
}

/* "90s" before (now), or "@" and seconds. */
static bool number_time(const char *word, uint32_t now, uint32_t *seconds)
{
    static const struct {
        char unit;
        int64_t seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
    bool is_whole = *word == '@';
    char *end;
    long long number;

    if (!isdigit((unsigned char)word[is_whole]))
        return false;
    errno = 0;
    number = strtoll(word + is_whole, &end, 10);
    if (errno != 0 || number > UINT32_MAX)
        return false;
    if (is_whole)
        return *end == '\0' && fits(number, seconds);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; ++i)
        if (end[0] == units[i].unit && end[1] == '\0')
            return fits((int64_t)now - number * units[i].seconds, seconds);
    return false;
}

bool fleet_time(const char *word, uint32_t now, uint32_t *seconds)
{
    static const char *const forms[] = {"%Y-%m-%d", "%Y-%m-%d %H:%M",
                                        "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M:%S",
                                        "%Y-%m-%dT%H:%M:%S"};

    if (strcmp(word, "now") == 0) {
        *seconds = now;
        return true;
    }
    if (number_time(word, now, seconds))
        return true;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; ++i) {
        struct tm parts = {0};
        const char *end = strptime(word, forms[i], &parts);

        if (end != NULL && (*end == '\0' || strcmp(end, "Z") == 0))
            return fits(timegm(&parts), seconds);
    }
    return false;
}
