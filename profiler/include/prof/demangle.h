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
 * The output equals that of GNU c++filt -i -r (binutils 2.40), and of LLVM 19
 * for names that c++filt rejects; of rustfilt; and of Linux perf for OCaml.
 *
 * Contexts: any, interrupt, NMI and panic included; re-entrant, as all state is
 * in (work) and (out); no allocation, no locks, general registers only. Stack:
 * at most 1 KiB, whatever the name. Time: at most PROF_DEMANGLE_STEPS(bytes of
 * the name) steps of bounded work each.
 *
 * There is no failure: a name that is not mangled, is damaged, or is too
 * complex for (work) is copied unchanged, with PROF_LANGUAGE_NONE.
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

/* Longer names are always copied unchanged. */
#define PROF_DEMANGLE_NAME_MAX 65535u

/* The step budget for a name of (bytes) bytes, after which the output is cut. A
 * step takes about 5 ns on a host of 2023, so 4 KiB of name at most 100 us. The
 * worst of 362,054 names of installed libraries takes 17,752 steps. */
#define PROF_DEMANGLE_STEPS(bytes) (18432u + (uint32_t)(bytes) / 4u)

enum prof_language {
    PROF_LANGUAGE_NONE, /* result only: copied unchanged */
    PROF_LANGUAGE_AUTO, /* argument only: detect by the first bytes */
    PROF_LANGUAGE_CXX,
    PROF_LANGUAGE_RUST,
    PROF_LANGUAGE_OCAML,
    PROF_LANGUAGE_AUTO_BRIEF, /* argument only: AUTO, and of C++ functions the
                                 types that they return are omitted, which only
                                 templates have: f<int>(int) */
};

/* What one call did. */
struct prof_demangled {
    size_t bytes;                /* written to out, its NUL not counted */
    uint32_t steps;              /* spent, of PROF_DEMANGLE_STEPS() */
    enum prof_language language; /* by whose rules it was demangled */
    bool truncated;              /* out holds only the beginning */
};

/*
 * Demangles the NUL-terminated (name) into (out), which has room for (size)
 * bytes, and terminates it with NUL unless (size) is 0. What does not fit is
 * cut between two UTF-8 characters. (out) MUST NOT overlap (name). (work) MAY
 * be NULL; every name is then copied unchanged.
 */
struct prof_demangled prof_demangle(const char *name, char *out, size_t size,
                                    struct prof_demangle_work *work);

/* The same for one (language): names of others are copied unchanged.
 * PROF_LANGUAGE_AUTO_BRIEF is for tables, whose rows then begin with the
 * function's name. */
struct prof_demangled prof_demangle_as(enum prof_language language,
                                       const char *name, char *out, size_t size,
                                       struct prof_demangle_work *work);

#ifdef __cplusplus
}
#endif

#endif
