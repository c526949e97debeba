/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IMPORT_FORMATS_H
#define IMPORT_FORMATS_H

/* The readers: whether the (count) bytes are theirs, and reading them, which
 * returns how many bytes made no sense. */

#include "import/import.h"
#include "import/recording.h"

#include <stdbool.h>

bool mirage_is(const uint8_t *bytes, size_t count);
uint64_t mirage_read(struct recording *recording, const uint8_t *bytes,
                     size_t count);

bool fuchsia_is(const uint8_t *bytes, size_t count);
uint64_t fuchsia_read(struct recording *recording, const uint8_t *bytes,
                      size_t count);

#endif
