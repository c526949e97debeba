/* SPDX-License-Identifier: Apache-2.0 */
/* Which builds are meant. */

#include "fleet/fleet.h"

#include "base/log.h"
#include "base/memory.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct fleet_build *fleet_builds(const struct fleet *fleet, size_t *count)
{
    struct store_answer answer;
    struct fleet all = *fleet;
    struct fleet_build *builds;

    all.build_count = 0;
    fleet_ask(&all, "builds", &answer);
    builds = xreallocarray(NULL, answer.rows + 1, sizeof *builds);
    for (size_t i = 0; i < answer.rows; ++i) {
        snprintf(builds[i].id, sizeof builds[i].id, "%s",
                 store_value(&answer, i, 0));
        builds[i].first = (uint32_t)store_u64(&answer, i, 1);
        builds[i].last = (uint32_t)store_u64(&answer, i, 2);
        builds[i].guests = store_u64(&answer, i, 3);
        builds[i].ticks = store_u64(&answer, i, 4);
    }
    *count = answer.rows;
    store_answer_free(&answer);
    return builds;
}

/* Whether the id (id) begins with the digits (word), of either case. */
static bool begins(const char *id, const char *word)
{
    for (; *word != '\0'; ++id, ++word)
        if (*id != tolower((unsigned char)*word))
            return false;
    return true;
}

void fleet_add_build(struct fleet *fleet, const char *word)
{
    size_t count, at = SIZE_MAX;
    struct fleet_build *builds = fleet_builds(fleet, &count);
    const char *of = fleet->service != NULL ? fleet->service : "the store";

    if (fleet->build_count == FLEET_BUILDS_MAX)
        die_usage("at most %d builds", FLEET_BUILDS_MAX);
    if (count == 0)
        die("%s: %s: no guests at that time", store_name(fleet->store), of);
    if (strcmp(word, "first") == 0) {
        at = 0;
    } else if (strcmp(word, "last") == 0) {
        at = count - 1;
    } else {
        for (size_t i = 0; i < count; ++i) {
            if (!begins(builds[i].id, word))
                continue;
            if (at != SIZE_MAX)
                die("build '%s' is %.12s or %.12s; give more of its digits",
                    word, builds[at].id, builds[i].id);
            at = i;
        }
    }
    if (at == SIZE_MAX)
        die("%s: %s: no build begins with '%s' at that time; the last one is "
            "%.12s",
            store_name(fleet->store), of, word, builds[count - 1].id);
    memcpy(fleet->builds[fleet->build_count++], builds[at].id, FLEET_BUILD_HEX);
    free(builds);
}
