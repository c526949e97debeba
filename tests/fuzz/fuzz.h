/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FUZZ_H
#define FUZZ_H

/* What every fuzzer begins with. They are built with clang's libFuzzer, ASan
 * and UBSan (suite.py). */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static inline void require(int condition)
{
    if (!condition)
        abort();
}

#endif
