/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_DEMANGLE_H
#define PROF_DEMANGLE_H

/*
 * Demangles symbol names of C++ (Itanium ABI), Rust (legacy and v0) and OCaml,
 * without a heap and with little stack.
 *
 *     static struct prof_demangle_work work;      one per concurrent caller
 *     char text[128];
 *     struct prof_demangled got =
 *         prof_demangle("_Z3fooi", text, sizeof text, &work);
 *     text is "foo(int)", got.bytes is 8, got.truncated is false
 *
 * The output equals that of these programs: for C++ GNU c++filt -i -r (binutils
 * 2.40), or LLVM 19 for names that c++filt rejects; for Rust rustfilt; for
 * OCaml Linux perf.
 *
 * Contexts: any, including interrupt, NMI and panic. Re-entrant, as all state
 * is in (work) and (out). No allocation, no locks, general registers only. Uses
 * at most 1 KiB of stack for any name, and at most PROF_DEMANGLE_STEPS(bytes of
 * the name) steps of bounded work each.
 *
 * It cannot fail: a name that is not mangled, malformed, or too complex for
 * (work) is copied unchanged, with PROF_LANGUAGE_NONE.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Scratch memory of one call. Its contents need not be kept between calls. */
#define PROF_DEMANGLE_WORK_BYTES 8192u
struct prof_demangle_work {
    uint32_t words[PROF_DEMANGLE_WORK_BYTES / 4];
};

/* Longer names, in bytes, are always copied unchanged. */
#define PROF_DEMANGLE_NAME_MAX 65535u

/* The step budget for a name of (bytes) bytes, after which the output is cut. A
 * step takes about 5 ns on a host of 2023, so that a name of 4 KiB takes at
 * most 100 us. The worst of 362,054 names in installed libraries takes 17,752
 * steps. */
#define PROF_DEMANGLE_STEPS(bytes) (18432u + (uint32_t)(bytes) / 4u)

enum prof_language {
    PROF_LANGUAGE_NONE, /* result only: copied unchanged */
    PROF_LANGUAGE_AUTO, /* argument only: detect by the first bytes */
    PROF_LANGUAGE_CXX,
    PROF_LANGUAGE_RUST,
    PROF_LANGUAGE_OCAML,
    PROF_LANGUAGE_AUTO_BRIEF, /* argument only: AUTO, without the return types
                                 of C++ functions, which only names of templates
                                 contain: f<int>(int) */
};

/* The result of one call. */
struct prof_demangled {
    size_t bytes;                /* written to (out), without the NUL */
    uint32_t steps;              /* used, of PROF_DEMANGLE_STEPS() */
    enum prof_language language; /* whose rules were applied */
    bool truncated;              /* (out) has the beginning only */
};

/*
 * Demangles the NUL-terminated (name) into the (size) bytes at (out), and
 * terminates the result with a NUL unless (size) is 0. A result that does not
 * fit is cut between two UTF-8 characters. (out) MUST NOT overlap (name).
 * (work) MAY be NULL; every name is then copied unchanged.
 */
struct prof_demangled prof_demangle(const char *name, char *out, size_t size,
                                    struct prof_demangle_work *work);

/* Like prof_demangle(), for one (language): names of other languages are copied
 * unchanged. PROF_LANGUAGE_AUTO_BRIEF is for tables, so that each row begins
 * with the function's name. */
struct prof_demangled prof_demangle_as(enum prof_language language,
                                       const char *name, char *out, size_t size,
                                       struct prof_demangle_work *work);

#ifdef __cplusplus
}
#endif

#endif
