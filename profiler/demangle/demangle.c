/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prof_demangle(): detects the language of a name, and copies names that no
 * demangler accepts.
 */

#include "demangle/buffer.h"
#include "demangle/languages.h"

#include <prof/config.h>
#include <prof/demangle.h>

_Static_assert(sizeof(struct prof_demangle_work) == PROF_DEMANGLE_WORK_BYTES,
               "the workspace is as large as its contract says");

#if PROF_WITH_CXX || PROF_WITH_RUST || PROF_WITH_OCAML

/* A host's strlen() uses vector registers and is faster; an image need not have
 * one. */
static size_t length(const char *s)
{
#if __STDC_HOSTED__
    return __builtin_strlen(s);
#else
    const char *at = s;

    while (at[0] != 0 && at[1] != 0 && at[2] != 0 && at[3] != 0)
        at += 4;
    while (*at != 0)
        at++;
    return (size_t)(at - s);
#endif
}

/* Quick test for Rust's legacy mangling, which ends with a hash of 16 digits,
 * "17h...E". A name with a suffix always passes. */
static bool may_be_legacy(const char *name, size_t bytes)
{
    const char *hash = name + bytes - 20;

    if (bytes < 25 || name[2] != 'N')
        return false;
    return name[bytes - 1] != 'E' || (hash[0] == '1' && hash[2] == 'h');
}

/* Prints (name) if it is of (language) or, for AUTO, of any. Rust is tried
 * before C++, because a legacy Rust name is a valid C++ name. */
static enum prof_language print(struct demangle_buffer *o,
                                enum prof_language language, const char *name,
                                size_t bytes, void *work)
{
    bool any = language == PROF_LANGUAGE_AUTO || o->brief;

    if (name[0] == 'c') {
        if (PROF_WITH_OCAML && (any || language == PROF_LANGUAGE_OCAML) &&
            prof_ocaml(o, name, bytes))
            return PROF_LANGUAGE_OCAML;
        return PROF_LANGUAGE_NONE;
    }
    if (name[0] != '_')
        return PROF_LANGUAGE_NONE;
    if (PROF_WITH_RUST && (any || language == PROF_LANGUAGE_RUST)) {
        if (((!any || may_be_legacy(name, bytes)) &&
             prof_rust_legacy(o, name, bytes, !any)) ||
            prof_rust_v0(o, name, bytes, work, PROF_DEMANGLE_WORK_BYTES))
            return PROF_LANGUAGE_RUST;
        demangle_restart(o);
    }
    if (PROF_WITH_CXX && (any || language == PROF_LANGUAGE_CXX) &&
        prof_cxx(o, name, bytes, work, PROF_DEMANGLE_WORK_BYTES))
        return PROF_LANGUAGE_CXX;
    return PROF_LANGUAGE_NONE;
}

struct prof_demangled prof_demangle_as(enum prof_language language,
                                       const char *name, char *out, size_t size,
                                       struct prof_demangle_work *work)
{
    char nowhere[1];
    size_t bytes = length(name);
    struct demangle_buffer o = {.to = size > 0 ? out : nowhere,
                                .room = size > 0 ? size - 1 : 0,
                                .brief = language == PROF_LANGUAGE_AUTO_BRIEF};
    struct prof_demangled got = {.language = PROF_LANGUAGE_NONE};
    uint32_t budget = 0;

    if (work != NULL && bytes <= PROF_DEMANGLE_NAME_MAX) {
        budget = PROF_DEMANGLE_STEPS(bytes);
        o.steps = budget;
        got.language = print(&o, language, name, bytes, work);
    }
    got.steps = budget - o.steps;
    if (got.language == PROF_LANGUAGE_NONE) {
        demangle_restart(&o);
        demangle_put_bytes(&o, name, bytes);
    }
    got.bytes = demangle_close(&o);
    got.truncated = got.bytes < o.length ||
                    (got.language != PROF_LANGUAGE_NONE && budget == got.steps);
    return got;
}

#else /* every name is copied */

struct prof_demangled prof_demangle_as(enum prof_language language,
                                       const char *name, char *out, size_t size,
                                       struct prof_demangle_work *work)
{
    struct prof_demangled got = {.language = PROF_LANGUAGE_NONE};
    size_t bytes = 0;

    (void)language;
    (void)work;
    for (; name[bytes] != '\0' && bytes + 1 < size; bytes++)
        out[bytes] = name[bytes];
    if (size > 0)
        out[bytes] = '\0';
    got.bytes = bytes;
    got.truncated = size == 0 || name[bytes] != '\0';
    return got;
}

#endif

struct prof_demangled prof_demangle(const char *name, char *out, size_t size,
                                    struct prof_demangle_work *work)
{
    return prof_demangle_as(PROF_LANGUAGE_AUTO, name, out, size, work);
}
