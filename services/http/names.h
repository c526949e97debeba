/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HTTP_NAMES_H
#define HTTP_NAMES_H

#include "text.h"

#include <stdint.h>

/*
 * Appends the name of the function at (address), or the address if it has no
 * name, with a backslash before each byte that is in (escaped).
 */
void http_name_add(struct http_text *text, uintptr_t address,
                   const char *escaped);

#endif
