/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

/* Numbers as people read them. */

#include <stdint.h>

#define NUMBER_TEXT_MAX 32

/* "1,234,567"; returns (text), which has room for NUMBER_TEXT_MAX. */
const char *number_count(uint64_t number, char *text);

/* "1,000.15 Hz", of thousandths; the same. */
const char *number_hz(uint64_t mhz, char *text);

/* "1.2 MB"; the same. */
const char *number_bytes(uint64_t bytes, char *text);

#endif
