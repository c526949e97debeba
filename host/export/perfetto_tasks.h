/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXPORT_PERFETTO_TASKS_H
#define EXPORT_PERFETTO_TASKS_H

#include "profile/view.h"

#include <stdio.h>

/* Writes what happened to objects as track events: packets of the sequence
 * (sequence), tracks below (parent). Track numbers are 2^32 and more. */
void perfetto_put_tasks(FILE *out, struct view *view, uint32_t sequence,
                        uint64_t parent);

#endif
