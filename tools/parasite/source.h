/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SOURCE_H
#define SOURCE_H

/* What a function was written in, and in which folder. */

#include "names.h"

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

/* The language of what is at (address): as the DWARF data has it, or by how
 * the symbol is mangled. */
enum source_language source_language(const struct names *names,
                                     uint64_t address);

/* The path of the source of the function numbered (place) at (address), of
 * those that names_at() gives, without the file's own name; "" if it is
 * unknown. Valid until the next call. */
const char *source_folder(const struct names *names, uint64_t address,
                          size_t place);

/* How many characters of the two folders are the same whole folders. */
size_t source_common(const char *one, const char *other, size_t limit);

#endif
