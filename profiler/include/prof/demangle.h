/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_DEMANGLE_H
#define PROF_DEMANGLE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Writes the readable form of the linker's name (name) into (out), which holds
 * (size) bytes, NUL-terminated whenever (size) is not 0.
 *
 * Contexts: any, NMI and panic included; re-entrant; no allocation.
 * Returns the bytes that the whole answer has without its NUL, so that a
 * result of (size) or more says that (out) holds only the beginning.
 * A name that is not mangled comes back as it is.
 */
size_t prof_demangle(const char *name, char *out, size_t size);

#ifdef __cplusplus
}
#endif

#endif
