/* SPDX-License-Identifier: Apache-2.0 */

/* For tests that have no allocator of their own (tests/unit/rules.mk). */

#include <prof/port.h>
#include <stdlib.h>

__attribute__((weak)) void *prof_port_alloc(size_t bytes)
{
    return malloc(bytes);
}
