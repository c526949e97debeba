/* SPDX-License-Identifier: Apache-2.0 */

#include "names_engines.h"

#include <dlfcn.h>
#include <time.h>

static struct prof_demangle_work work;
static char out[4097];

static char *(*iberty_cxx)(const char *, int);
static char *(*iberty_rust)(const char *, int);
static char *(*cxxabi)(const char *, char *, size_t *, int *);
static char *(*llvm_cxx)(const char *, char *, size_t *, int *);
static char *(*llvm_rust)(const char *, char *, size_t *, int *);

static char *run_ours(const char *name)
{
    prof_demangle(name, out, sizeof out, &work);
    return NULL;
}

/* DMGL_PARAMS | DMGL_ANSI; and no limit on recursion, as c++filt -i -r. In
   Rust that limit is what ends a name that refers to itself. */
#define IBERTY_OPTIONS (1 | 2)
#define IBERTY_UNLIMITED (1 << 18)

static char *run_iberty_cxx(const char *name)
{
    return iberty_cxx(name, IBERTY_OPTIONS | IBERTY_UNLIMITED);
}

static char *run_iberty_rust(const char *name)
{
    return iberty_rust(name, IBERTY_OPTIONS);
}

static char *run_cxxabi(const char *name)
{
    int status;

    return cxxabi(name, NULL, NULL, &status);
}

static char *run_llvm_cxx(const char *name)
{
    int status;

    return llvm_cxx(name, NULL, NULL, &status);
}

static char *run_llvm_rust(const char *name)
{
    int status;

    return llvm_rust(name, NULL, NULL, &status);
}

#define LIBBFD "libbfd-2.40-system.so"
#define LIBLLVM "libLLVM-14.so.1"

const struct engine engines[] = {
    {"ours", run_ours, CXX | LEGACY | V0, NULL, NULL, NULL},
    {"libiberty", run_iberty_cxx, CXX, (void **)&iberty_cxx,
     "cplus_demangle_v3", LIBBFD},
    {"libiberty", run_iberty_rust, LEGACY | V0, (void **)&iberty_rust,
     "rust_demangle", LIBBFD},
    {"libcxxabi", run_cxxabi, CXX, (void **)&cxxabi, "__cxa_demangle",
     "libc++abi.so.1"},
    {"llvm", run_llvm_cxx, CXX, (void **)&llvm_cxx,
     "_ZN4llvm15itaniumDemangleEPKcPcPmPi", LIBLLVM},
    {"llvm", run_llvm_rust, V0, (void **)&llvm_rust,
     "_ZN4llvm12rustDemangleEPKcPcPmPi", LIBLLVM},
};

const size_t engine_count = sizeof engines / sizeof engines[0];
_Static_assert(sizeof engines / sizeof engines[0] <= ENGINES_MAX,
               "those who measure have room for each engine");

uint32_t engine_steps(const char *name)
{
    return prof_demangle(name, out, sizeof out, &work).steps;
}

double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

bool engine_load(const struct engine *engine)
{
    void *library;

    if (engine->symbol == NULL)
        return true;
    library = dlopen(engine->library, RTLD_NOW | RTLD_LOCAL);
    if (library != NULL)
        *engine->symbol = dlsym(library, engine->symbol_name);
    return *engine->symbol != NULL;
}
