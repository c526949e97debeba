/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_BASE64_H
#define PROF_BASE64_H

#include <stddef.h>
#include <stdint.h>

/*
 * Three bytes of (bytes), fewer where (count) is less, as four characters of
 * base64 in (text) (RFC 4648, section 4). Contexts: any.
 */
void prof_base64(const uint8_t *bytes, size_t count, char text[4]);

#endif
