/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENDING_H
#define ENDING_H

/*
 * How a command that goes on until somebody ends it is ended: by SIGINT and
 * SIGTERM, which it looks for between two things that it does, so that what it
 * has is written out and its guest told.
 */

#include <stdbool.h>

/* From now on both signals are only noted; what waits in a system call is
 * woken by them. */
void ending_begin(void);

/* Whether one came. */
bool ending_asked(void);

#endif
