/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When targets are connected to, and in which order. A host that is down takes
 * as long as a connection may take; some of the threads are kept from such
 * targets, and these are tried less and less often, so that a hundred of them
 * do not hold up a target that is there.
 */

#include "collect/parts.h"

#define AGAIN_SECONDS 1.0
#define SLOW_SECONDS 1.0 /* that a try took in vain */
#define PAUSES_MAX 6u    /* doublings: some 64 s */

size_t dial_next(struct line *const *lines, size_t count, unsigned slow)
{
    for (size_t i = 0; i < count; ++i)
        if (lines[i]->slow_tries == 0)
            return i;
    return slow < DIALERS_SLOW ? 0 : count;
}

double dial_pause(struct line *line, double took)
{
    if (line->fine || took < SLOW_SECONDS)
        line->slow_tries = 0;
    else if (line->slow_tries < PAUSES_MAX)
        ++line->slow_tries;
    return AGAIN_SECONDS * (1u << line->slow_tries);
}
