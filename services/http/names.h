/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HTTP_NAMES_H
#define HTTP_NAMES_H

#include "text.h"

#include <stdint.h>

/*
 * Adds the name of the function at (address), or the address where it has
 * none, with a backslash before each byte in (escaped).
 */
void http_name_add(struct http_text *text, uintptr_t address,
                   const char *escaped);

#endif
