/* SPDX-License-Identifier: Apache-2.0 */
/* The heap. A file of its own, so that tests can refuse memory. */

#include "internal.h"

#include <stdlib.h>

void *task_alloc(size_t bytes)
{
    return malloc(bytes);
}

void task_free(void *block)
{
    free(block);
}
