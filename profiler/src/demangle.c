/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names for people. A C name is readable as it is, so it is copied.
 */

#include <prof/demangle.h>

size_t prof_demangle(const char *name, char *out, size_t size)
{
    size_t bytes = 0;

    for (; name[bytes] != '\0'; ++bytes) {
        if (bytes + 1 < size)
            out[bytes] = name[bytes];
    }
    if (size > 0)
        out[bytes < size ? bytes : size - 1] = '\0';
    return bytes;
}
