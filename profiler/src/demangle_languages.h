/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_DEMANGLE_LANGUAGES_H
#define PROF_DEMANGLE_LANGUAGES_H

/*
 * One call for each way in which names are mangled. Each prints the name of
 * (bytes) bytes, whose NUL is at name[bytes], into (out), and returns false
 * where the name is not its own; (out) then holds rubbish. (work) is aligned
 * to 8 bytes. A spent budget is no failure: what is printed then stands.
 */

#include "demangle_out.h"

PROF_HIDDEN bool prof_cxx(struct prof_out *out, const char *name, size_t bytes,
                          void *work, size_t work_bytes);
/* (without_hash): names that might as well be C++ are taken, too. */
PROF_HIDDEN bool prof_rust_legacy(struct prof_out *out, const char *name,
                                  size_t bytes, bool without_hash);
PROF_HIDDEN bool prof_rust_v0(struct prof_out *out, const char *name,
                              size_t bytes, void *work, size_t work_bytes);
PROF_HIDDEN bool prof_ocaml(struct prof_out *out, const char *name,
                            size_t bytes);

#endif
