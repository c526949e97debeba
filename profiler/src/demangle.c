/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The front of the demanglers: which language a name is of, and what comes
 * back when it is of none.
 */

#include "demangle_languages.h"
#include "demangle_out.h"

#include <prof/demangle.h>

_Static_assert(sizeof(struct prof_demangle_work) == PROF_DEMANGLE_WORK_BYTES,
               "the workspace is as large as its contract says");

/* A host's own is faster than what can be written without vector registers;
 * an image need not have one. */
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

/* Whether a name may be of Rust's first mangling: at its end, or before a
 * suffix, stands a hash of 16 digits, "17h...E". */
static bool may_be_legacy(const char *name, size_t bytes)
{
    const char *hash = name + bytes - 20;

    if (bytes < 25 || name[2] != 'N')
        return false;
    return name[bytes - 1] != 'E' || (hash[0] == '1' && hash[2] == 'h');
}

/* Prints (name) if it is of (language) or, for AUTO, of any. */
static enum prof_language print(struct prof_out *o, enum prof_language language,
                                const char *name, size_t bytes, void *work)
{
    bool any = language == PROF_LANGUAGE_AUTO;

    if (name[0] == 'c') {
        if ((any || language == PROF_LANGUAGE_OCAML) &&
            prof_ocaml(o, name, bytes))
            return PROF_LANGUAGE_OCAML;
        return PROF_LANGUAGE_NONE;
    }
    if (name[0] != '_')
        return PROF_LANGUAGE_NONE;
    if (any || language == PROF_LANGUAGE_RUST) {
        if (((!any || may_be_legacy(name, bytes)) &&
             prof_rust_legacy(o, name, bytes, !any)) ||
            prof_rust_v0(o, name, bytes, work, PROF_DEMANGLE_WORK_BYTES))
            return PROF_LANGUAGE_RUST;
        prof_out_restart(o);
    }
    if ((any || language == PROF_LANGUAGE_CXX) &&
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
    struct prof_out o = {.to = size > 0 ? out : nowhere,
                         .room = size > 0 ? size - 1 : 0};
    struct prof_demangled got = {.language = PROF_LANGUAGE_NONE};
    uint32_t budget = 0;

    if (work != NULL && bytes <= PROF_DEMANGLE_NAME_MAX) {
        budget = PROF_DEMANGLE_STEPS(bytes);
        o.steps = budget;
        got.language = print(&o, language, name, bytes, work);
    }
    got.steps = budget - o.steps;
    if (got.language == PROF_LANGUAGE_NONE) {
        prof_out_restart(&o);
        prof_out_bytes(&o, name, bytes);
    }
    got.bytes = prof_out_close(&o);
    got.truncated = got.bytes < o.length ||
                    (got.language != PROF_LANGUAGE_NONE && budget == got.steps);
    return got;
}

struct prof_demangled prof_demangle(const char *name, char *out, size_t size,
                                    struct prof_demangle_work *work)
{
    return prof_demangle_as(PROF_LANGUAGE_AUTO, name, out, size, work);
}
