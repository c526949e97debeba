/* SPDX-License-Identifier: Apache-2.0 */

#include "base/equal.h"

bool prof_equal(const char *a, const char *b)
{
    while (*a != '\0' && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}
