/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXPORT_CHROME_TASKS_H
#define EXPORT_CHROME_TASKS_H

#include "profile/view.h"

#include <stdio.h>

/* Appends the events of objects to those of Chrome's format: objects as
 * asynchronous events, lanes as threads from (first_thread) on. */
void chrome_put_tasks(FILE *out, struct view *view, uint32_t first_thread);

#endif
