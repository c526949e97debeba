/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_MEMORY_H
#define PROF_MEMORY_H

/* The heap, as long as it may be used. */

#include "state.h"

#include <prof/port.h>

/* As prof_port_alloc(); in a panic there is no memory. */
static inline void *prof_memory(size_t bytes)
{
    return prof_state.dying ? NULL : prof_port_alloc(bytes);
}

#endif
