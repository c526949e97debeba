/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_HOSTED_START_H
#define KERNEL_HOSTED_START_H

/* What the process was started with. */

#include <stddef.h>

size_t hosted_memory_bytes(void);

/* Files for the disk and for the second serial line; NULL: none. */
const char *hosted_disk(void);
const char *hosted_stream(void);

#endif
