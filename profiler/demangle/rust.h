/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_RUST_H
#define PROF_RUST_H

/* What Rust's two manglings share. */

#include "demangle/languages.h"

/* The end of the name without a ".llvm.0123ABCD" that LTO appended. */
PROF_HIDDEN const char *rust_end(const char *name, const char *end);

/* Whether [s, end) may follow a name: nothing, or a suffix such as ".cold". */
PROF_HIDDEN bool rust_is_suffix(const char *s, const char *end);

/* Whether Rust's Debug output prints a character unescaped. */
PROF_HIDDEN bool rust_is_shown(uint32_t code);

static inline bool rust_is_char(uint32_t code)
{
    return code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
}

#endif
