/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_TASKS_PRINT_H
#define CLI_TASKS_PRINT_H

#include "tasks/sites.h"

enum tasks_order {
    TASKS_BY_WAITING,
    TASKS_BY_READY,
    TASKS_BY_RUNNING,
    TASKS_BY_COUNT,
};

/* Prints a table of sites, and a tree of what still waits; of each at most
 * (rows), 0 = all. */
void tasks_print(const struct tasks *tasks, enum tasks_order order,
                 unsigned long rows);

/* The same as JSON, all of it. */
void tasks_print_json(const struct tasks *tasks);

#endif
