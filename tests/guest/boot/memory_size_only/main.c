/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loader that says how much memory there is, but not where: the image takes
 * it to begin at 1 MiB, and says so. What else the loader did say is taken away
 * by the shim, which this image is linked to begin with.
 */

#include "../no_memory_map/usable.h"

#include <kernel/service.h>

int service_main(void)
{
    tap_plan(USABLE_TESTS);
    usable_without_map();
    return tap_end();
}
