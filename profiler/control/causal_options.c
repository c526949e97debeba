/* SPDX-License-Identifier: Apache-2.0 */

/* Names of targets and progress points, until experiments begin. Apart from
 * causal.c, so that options.c can be linked without the experiments. */

#include "control/causal.h"

#include "base/alloc.h"
#include <prof/error.h>
#include <prof/port.h>

struct prof_causal_wanted *prof_causal_wanted;

int prof_causal_want(enum prof_causal_kind kind, const char *name)
{
    struct prof_causal_wanted **end = &prof_causal_wanted, *added;
    size_t bytes = 1;

    for (const char *at = name; *at != '\0'; at++)
        bytes++;
    if (bytes == 1)
        return PROF_EVALUE;
    added = prof_alloc(sizeof *added + bytes);
    if (added == NULL)
        return PROF_EMEMORY;
    *added = (struct prof_causal_wanted){.kind = kind};
    for (size_t i = 0; i < bytes; i++)
        added->name[i] = name[i];
    while (*end != NULL)
        end = &(*end)->next;
    *end = added;
    return PROF_OK;
}
