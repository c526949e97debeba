/* SPDX-License-Identifier: Apache-2.0 */
/* Where in the source a place is. */

#include "place.h"

#include "parasite.h"

#include <stdlib.h>
#include <string.h>

struct source place_source(const struct names *names, const struct place *place)
{
    struct source source = {copied(names_text(names, place->line)), 0};
    char *colon = strrchr(source.file, ':');

    if (colon != NULL) {
        *colon = '\0';
        source.line = (uint32_t)strtoul(colon + 1, NULL, 10);
    }
    return source;
}
