/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TIMELINE_PAYLOAD_H
#define TIMELINE_PAYLOAD_H

#include "page/columns.h"
#include "timeline/timeline.h"

/* Objects of all traces are numbered from 1; 0 is none. Each trace's event loop
 * is the first of its objects. */
uint32_t payload_object(const struct timeline *timeline, size_t trace,
                        uint32_t object);

/* All columns of the page. */
void payload_put(const struct timeline *timeline, struct columns *columns);

#endif
