/* SPDX-License-Identifier: Apache-2.0 */
#include "cpu_time.h"

#include <inttypes.h>
#include <stdio.h>

bool cpu_time_ns(const char *path, uint64_t *ns)
{
    FILE *in = fopen(path, "r");
    bool found;

    if (in == NULL)
        return false;
    found = fscanf(in, "%" SCNu64, ns) == 1;
    fclose(in);
    return found;
}
