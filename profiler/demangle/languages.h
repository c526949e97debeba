/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_DEMANGLE_LANGUAGES_H
#define PROF_DEMANGLE_LANGUAGES_H

/*
 * One function for each mangling. Each prints the (bytes) bytes of (name),
 * which ends with NUL, into (out). It returns false if the name does not belong
 * to it; the contents of (out) are then undefined. (work) must be aligned to 8
 * bytes. Spending the budget is not a failure: the output so far is valid.
 */

#include "demangle/buffer.h"

PROF_HIDDEN bool prof_cxx(struct demangle_buffer *out, const char *name,
                          size_t bytes, void *work, size_t work_bytes);
/* (without_hash): also accepts names that might be C++. */
PROF_HIDDEN bool prof_rust_legacy(struct demangle_buffer *out, const char *name,
                                  size_t bytes, bool without_hash);
PROF_HIDDEN bool prof_rust_v0(struct demangle_buffer *out, const char *name,
                              size_t bytes, void *work, size_t work_bytes);
PROF_HIDDEN bool prof_ocaml(struct demangle_buffer *out, const char *name,
                            size_t bytes);

#endif
