/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_DEMANGLE_H
#define PROF_DEMANGLE_H

/*
 * The readable form of a linker's name, for C++ (Itanium ABI), Rust (legacy
 * and v0) and OCaml, where neither heap nor a deep stack may be used.
 *
 *     static struct prof_demangle_work work;      one per concurrent caller
 *     char text[128];
 *     struct prof_demangled got =
 *         prof_demangle("_Z3fooi", text, sizeof text, &work);
 *     text is "foo(int)", got.bytes is 8, got.truncated is false
 *
 * What is printed: for C++ what GNU c++filt -i -r prints (binutils 2.40), and
 * for the forms that it refuses what LLVM 19 prints; for Rust what rustfilt
 * prints; for OCaml the rule of Linux perf.
 *
 * Contexts of every call here: any, interrupt, NMI and panic included;
 * re-entrant, because all state lives in the caller's (work) and (out); no
 * allocation, no locks, no global data but constants, general registers only.
 * Stack: at most 1 KiB, whatever the name. Time: at most
 * PROF_DEMANGLE_STEPS(bytes of the name) steps of bounded work each.
 *
 * Error policy: there is no failure. A name that is not mangled, that is
 * damaged, or whose structure does not fit into the workspace comes back as
 * it is, with PROF_LANGUAGE_NONE.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Memory that one call works in. Its contents mean nothing between calls. */
#define PROF_DEMANGLE_WORK_BYTES 8192u
struct prof_demangle_work {
    uint32_t words[PROF_DEMANGLE_WORK_BYTES / 4];
};

/* Names of more bytes than this always come back as they are. */
#define PROF_DEMANGLE_NAME_MAX 65535u

/*
 * The step budget for a name of (bytes) bytes; when it is spent, the answer
 * ends there and counts as truncated. A step is about 5 ns on a host of 2023,
 * so that 4 KiB of name take at most 100 us. The most that any of 362,054 names
 * of installed libraries takes is 17,752, for an answer of 36 KiB.
 */
#define PROF_DEMANGLE_STEPS(bytes) (18432u + (uint32_t)(bytes) / 4u)

enum prof_language {
    PROF_LANGUAGE_NONE, /* answer only: came back as it is */
    PROF_LANGUAGE_AUTO, /* question only: find out by the name's first bytes */
    PROF_LANGUAGE_CXX,
    PROF_LANGUAGE_RUST,
    PROF_LANGUAGE_OCAML,
};

/* What one call did. */
struct prof_demangled {
    size_t bytes;                /* written to out, its NUL not counted */
    uint32_t steps;              /* spent, of PROF_DEMANGLE_STEPS() */
    enum prof_language language; /* what the name was taken for */
    bool truncated;              /* out holds only the beginning */
};

/*
 * Writes the readable form of the NUL-terminated (name) into (out), which has
 * room for (size) bytes, and ends it with a NUL whenever (size) is not 0. A
 * longer answer is cut: (out) then holds a prefix of it that ends between two
 * characters, so that a name in UTF-8 always gives an answer in UTF-8.
 *
 * (out) MUST NOT overlap (name). (work) MAY be NULL, then every name comes
 * back as it is.
 */
struct prof_demangled prof_demangle(const char *name, char *out, size_t size,
                                    struct prof_demangle_work *work);

/*
 * The same for a name that is known to be of (language): names of other
 * languages come back as they are. PROF_LANGUAGE_AUTO is prof_demangle().
 */
struct prof_demangled prof_demangle_as(enum prof_language language,
                                       const char *name, char *out, size_t size,
                                       struct prof_demangle_work *work);

#ifdef __cplusplus
}
#endif

#endif
