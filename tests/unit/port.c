/* SPDX-License-Identifier: Apache-2.0 */

/* The profiler's port, for tests that need no other (tests/unit/rules.mk):
 * memory is the host's, and what is printed is lost. */

#include <prof/port.h>
#include <stdlib.h>

__attribute__((weak)) void *prof_port_alloc(size_t bytes)
{
    return malloc(bytes);
}

__attribute__((weak)) void prof_port_free(void *memory)
{
    free(memory);
}

__attribute__((weak)) void prof_port_write(const char *text, size_t bytes)
{
    (void)text;
    (void)bytes;
}
