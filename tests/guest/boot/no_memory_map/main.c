/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loader that says nothing about memory: the image boots all the same, on
 * what the firmware has noted in the CMOS, and says so. What the loader did say
 * is taken away by the shim, which this image is linked to begin with.
 */

#include "usable.h"

#include <kernel/service.h>

int service_main(void)
{
    tap_plan(USABLE_TESTS);
    usable_without_map();
    return tap_end();
}
