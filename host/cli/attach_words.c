/* SPDX-License-Identifier: Apache-2.0 */
/* Values of the options of parasite attach. */

#include "cli/attach_words.h"

#include "unwind/unwind.h"
#include "base/log.h"

#include <stdlib.h>

unsigned attach_depth(const char *text)
{
    char *end;
    long depth = strtol(text, &end, 10);

    if (end == text || *end != '\0' || depth < 0 ||
        depth >= (long)UNWIND_FRAMES_MAX)
        die_usage("--depth takes 0 to %u, not '%s'", UNWIND_FRAMES_MAX - 1,
                  text);
    return (unsigned)depth;
}

double attach_share(const char *text)
{
    char *end;
    double share = strtod(text, &end);

    if (*end == '%') {
        share /= 100;
        ++end;
    }
    if (end == text || *end != '\0' || !(share > 0 && share <= 1))
        die_usage("--pause-budget takes a share such as 0.5%%, not '%s'", text);
    return share;
}
