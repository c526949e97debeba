/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as people read them. */

#include "base/number.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

const char *number_count(uint64_t number, char *text)
{
    char digits[NUMBER_TEXT_MAX];
    int count = snprintf(digits, sizeof digits, "%" PRIu64, number);
    char *to = text;

    for (int i = 0; i < count; ++i) {
        if (i > 0 && (count - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = '\0';
    return text;
}

const char *number_hz(uint64_t mhz, char *text)
{
    char whole[NUMBER_TEXT_MAX];
    uint64_t hundredths = (mhz + 5) / 10;

    snprintf(text, NUMBER_TEXT_MAX, "%s.%02u Hz",
             number_count(hundredths / 100, whole),
             (unsigned)(hundredths % 100));
    return text;
}

const char *number_bytes(uint64_t bytes, char *text)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    double amount = (double)bytes;
    size_t unit = 0;

    for (; amount >= 999.95 && unit < 4; ++unit)
        amount /= 1000;
    snprintf(text, NUMBER_TEXT_MAX, "%.*f %s", unit > 0, amount, units[unit]);
    return text;
}
