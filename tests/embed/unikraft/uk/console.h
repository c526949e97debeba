/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UK_CONSOLE_H
#define UK_CONSOLE_H

#include <stddef.h>

int uk_console_out(const char *text, size_t bytes);

#endif
