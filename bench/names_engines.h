/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_NAMES_ENGINES_H
#define BENCH_NAMES_ENGINES_H

/*
 * The demanglers that are compared: ours, and those that are found with dlopen.
 */

#include <prof/demangle.h>
#include <stdbool.h>
#include <stddef.h>

/* Languages, bits. */
#define CXX 1u
#define LEGACY 2u
#define V0 4u

/* Demangles (name); returns what the caller frees, or NULL. */
typedef char *engine_fn(const char *name);

struct engine {
    const char *label;
    engine_fn *run;
    unsigned languages;      /* that it can demangle */
    void **symbol;           /* to be loaded; NULL: ours, always there */
    const char *symbol_name; /* in the library */
    const char *library;
};

#define ENGINES_MAX 16u

/* Ours is the first. */
extern const struct engine engines[];
extern const size_t engine_count;

/* Loads (engine) if need be; false: it is not installed. */
bool engine_load(const struct engine *engine);

/* Our demangler, into a buffer of its own. Returns its steps. */
uint32_t engine_steps(const char *name);

/* CPU time of this thread, ns. */
double now_ns(void);

/* Prints the worst of the names that are crafted to be slow. */
void run_crafted(void);

#endif
