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

struct tasks_wanted {
    enum tasks_order order;
    unsigned long rows; /* of each table, 0 = all */
    bool all;           /* what rests as well: tasks_rests() */
};

/* Prints a table of sites, and a tree of what still waits. */
void tasks_print(const struct tasks *tasks, const struct tasks_wanted *wanted);

/* The same as JSON, all of it. */
void tasks_print_json(const struct tasks *tasks);

#endif
