/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IMAGE_SOURCE_H
#define IMAGE_SOURCE_H

/* The language of a function's source, and its folder. */

#include "image/names.h"

enum source_language {
    SOURCE_UNKNOWN,
    SOURCE_C,
    SOURCE_CXX,
    SOURCE_RUST,
    SOURCE_OCAML,
    SOURCE_ASSEMBLY,
    SOURCE_LANGUAGES
};

/* "C++" and so on; "" for SOURCE_UNKNOWN. */
const char *source_language_name(enum source_language language);

/* The language of the code at (address), by DWARF data or the mangling. */
enum source_language source_language(const struct names *names,
                                     uint64_t address);

/* The folder of the source of (frame) at (address), numbered as by names_at();
 * "" if unknown. Valid until the next call. */
const char *source_folder(const struct names *names, uint64_t address,
                          size_t frame);

/* How many characters of the two folders are the same whole folders. */
size_t source_common(const char *one, const char *other, size_t limit);

#endif
