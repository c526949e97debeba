/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decodes (chars) characters of base64 (RFC 4648, section 4) to (out), which
 * has room for 3 bytes for each 4 characters. Returns false if the text is not
 * base64. */
bool base64_decode(const char *text, size_t chars, uint8_t *out,
                   size_t *out_bytes);

#endif
