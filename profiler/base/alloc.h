/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_ALLOC_H
#define PROF_ALLOC_H

/* Memory allocation: by the image's prof_port_alloc() and prof_port_free() or,
 * if it has none, by the built-in ones (pool.c). Contract: <prof/port.h>. */

#include <prof/config.h>
#include <prof/port.h>
#include <stdbool.h>

/* Returns whether the built-in allocator is used. PROF_WITH_BUILTIN. Contexts:
 * any. */
bool prof_pool_in_use(void);

#if PROF_WITH_BUILTIN

void *prof_alloc(size_t bytes);
void prof_free(void *memory);

#else

static inline void *prof_alloc(size_t bytes)
{
    return prof_port_alloc(bytes);
}

static inline void prof_free(void *memory)
{
    prof_port_free(memory);
}

#endif

#endif
