/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_MESSAGE_H
#define PROF_MESSAGE_H

#include <prof/port.h>

/* Prints (line), a literal that ends with a newline, in one call of the
 * port's. */
#define prof_message(line) prof_port_write(line, sizeof(line) - 1)

#endif
