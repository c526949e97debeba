/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long names take: ours beside the libraries that are installed, all in
 * one run on the same names.
 *
 *     names [--rounds=N | --count=ENGINE] [LANGUAGE FILE...]...
 *
 * LANGUAGE is cxx, legacy or v0; a file holds names of it, one a line. For
 * each engine lines of JSON: the mean over all names in ns, the 99th
 * percentile, and the mean as a multiple of ours; each the median of N rounds,
 * with the middle half of them. Others are found at run time with dlopen:
 * binutils' libiberty (in libbfd), which has rustc-demangle's rules in C, too;
 * libc++abi; and LLVM. One that is not installed is left out. At the end,
 * names made to be expensive: 4 KiB of input into 4 KiB of output.
 *
 * With --count that engine is given each name once, for valgrind to count what
 * it executes; status 1 where there is no such engine.
 */

#include <dlfcn.h>
#include <prof/demangle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef char *engine_fn(const char *name);

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

#define CXX 1u
#define LEGACY 2u
#define V0 4u

struct engine {
    const char *label;
    engine_fn *run;
    unsigned languages;
    void **symbol; /* NULL: ours, always there */
    const char *symbol_name;
    const char *library;
};

#define LIBBFD "libbfd-2.40-system.so"
#define LIBLLVM "libLLVM-14.so.1"

static const struct engine engines[] = {
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

#define ENGINES (sizeof engines / sizeof engines[0])

struct names {
    char **text;
    size_t count;
};

static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static bool load(const struct engine *engine)
{
    void *library;

    if (engine->symbol == NULL)
        return true;
    library = dlopen(engine->library, RTLD_NOW | RTLD_LOCAL);
    if (library != NULL)
        *engine->symbol = dlsym(library, engine->symbol_name);
    return *engine->symbol != NULL;
}

static void read_names(const char *path, struct names *names)
{
    size_t line_room = 0;
    char *line = NULL;
    FILE *file = fopen(path, "r");

    if (file == NULL) {
        perror(path);
        exit(1);
    }
    while (getline(&line, &line_room, file) > 0) {
        line[strcspn(line, "\n")] = '\0';
        if ((names->count & (names->count - 1)) == 0)
            names->text = realloc(names->text,
                                  (2 * names->count + 1) * sizeof *names->text);
        names->text[names->count++] = strdup(line);
    }
    free(line);
    fclose(file);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double mean_ns(const struct engine *engine, const struct names *names)
{
    double start = now_ns();

    for (size_t i = 0; i < names->count; i++)
        free(engine->run(names->text[i]));
    return (now_ns() - start) / (double)names->count;
}

/* Each name's best of three, so that an interrupt does not count. */
static double p99_ns(const struct engine *engine, const struct names *names)
{
    double *each = malloc((names->count + 1) * sizeof *each), p99;

    for (size_t i = 0; i < names->count; i++) {
        each[i] = 1e18;
        for (int k = 0; k < 3; k++) {
            double start = now_ns();

            free(engine->run(names->text[i]));
            start = now_ns() - start;
            each[i] = start < each[i] ? start : each[i];
        }
    }
    qsort(each, names->count, sizeof *each, compare);
    p99 = each[names->count * 99 / 100];
    free(each);
    return p99;
}

/* A line with the median of (count) rounds, and the middle half of them. */
static void tell(const char *what, const char *language, const char *engine,
                 double *all, size_t count, const char *unit)
{
    qsort(all, count, sizeof *all, compare);
    printf("{\"width\":\"host\",\"name\":\"%s_%s_%s\",\"value\":%.2f,"
           "\"low\":%.2f,\"high\":%.2f,\"unit\":\"%s\"}\n",
           what, language, engine, all[count / 2], all[count / 4],
           all[count - 1 - count / 4], unit);
}

/* Means of (rounds) rounds, in which the engines take turns. */
static void run_names(const char *label, unsigned language,
                      const struct names *names, size_t rounds)
{
    double *ns[ENGINES], *ratio = calloc(rounds, sizeof *ratio);

    printf("{\"width\":\"host\",\"name\":\"names_%s\",\"value\":%zu}\n", label,
           names->count);
    for (size_t e = 0; e < ENGINES; e++)
        ns[e] = (engines[e].languages & language) != 0 && load(&engines[e])
                    ? calloc(rounds, sizeof **ns)
                    : NULL;
    for (size_t round = 0; round < rounds; round++)
        for (size_t e = 0; e < ENGINES; e++)
            if (ns[e] != NULL)
                ns[e][round] = mean_ns(&engines[e], names);
    for (size_t e = ENGINES; e-- > 0;) {
        if (ns[e] == NULL)
            continue;
        for (size_t round = 0; round < rounds; round++)
            ratio[round] = ns[e][round] / ns[0][round];
        if (e > 0)
            tell("demangle", label, engines[e].label, ratio, rounds, "ratio");
        tell("demangle_ns", label, engines[e].label, ns[e], rounds, "ns");
        printf("{\"width\":\"host\",\"name\":\"demangle_p99_ns_%s_%s\","
               "\"value\":%.0f,\"unit\":\"ns\"}\n",
               label, engines[e].label, p99_ns(&engines[e], names));
        free(ns[e]);
    }
    free(ratio);
}

/* Gives the engine called (label) each name once. */
static bool count_names(const char *label, unsigned language,
                        const struct names *names)
{
    for (size_t e = 0; e < ENGINES; e++) {
        if (strcmp(engines[e].label, label) != 0 ||
            (engines[e].languages & language) == 0 || !load(&engines[e]))
            continue;
        for (size_t i = 0; i < names->count; i++)
            free(engines[e].run(names->text[i]));
        return true;
    }
    return false;
}

/* Repeats (middle) between (head) and (tail) up to (bytes). */
static char *repeated(const char *head, const char *middle, const char *tail,
                      size_t bytes)
{
    char *name = malloc(bytes + 1);
    size_t n = strlen(head);

    memcpy(name, head, n + 1);
    while (n + strlen(middle) + strlen(tail) <= bytes) {
        strcpy(name + n, middle);
        n += strlen(middle);
    }
    strcpy(name + n, tail);
    return name;
}

/* (head) makes (made) substitutions, the first of them a template. Then each
 * S_I x x E uses the one before it twice. */
static char *doubling(const char *head, size_t made, size_t levels)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    char *name = malloc(64 + levels * 24);
    size_t n = (size_t)sprintf(name, "%s", head);

    for (size_t i = 0; i < levels; i++) {
        char sub[8] = "S_";
        size_t index = i + made - 1;

        if (index > 36)
            sprintf(sub, "S%c%c_", digits[(index - 1) / 36],
                    digits[(index - 1) % 36]);
        else
            sprintf(sub, "S%c_", digits[index - 1]);
        n += (size_t)sprintf(name + n, "S_I%s%sE", sub, sub);
    }
    return name;
}

/* Names of 4 KiB: how they begin, what is repeated, how they end. */
static const char *const crafted[][3] = {
    {"_Z1f", "P", "i"},
    {"_Z1f", "PFvPK", "i"},
    {"_Z1f", "1AI", ""},
    {"_Z1fIJiiiiiiiiEEv", "DpPT_", ""},
    {"_Z", "Z1fvE", "1x"},
    {"_Z1f", "i", ""},
    {"_Z1f", "3abc", ""},
    {"_Z1f", "cvT_I", ""},
    {"_ZN1A", "cvT_I", ""},
    {"_Z1fDT", "plLi1E", ""},
    {"_Z1f", "K", "i"},
    {"_Z1fIA5_A6_iEv", "RKT_", ""},
    {"_RIC1a", "B_", "E"},
    {"_RNvC1a1b", "B", ""},
    {"_RIC1a", "TB2_B2_E", "E"},
    {"_RIC1aFGzzzz_", "E", "uE"},
    {"_RINvC1a1b", "FG9_", "EuE"},
    {"_RNvC1a", "u9bcher_kva", ""},
    {"_RNvC1au4084", "a", ""},
    {"_RIC1aKRe", "cc81", "_E"},
    {"_ZN", "1a", "17h0123456789abcdefE"},
    {"camlA", "$41__", ""},
    {"_Z4090", "a", ""},
    {"_Z1fI", "Li1E", "Evv"},
    {"_Z1fU3foo", "U3foo", "PFvvE"},
    {"_Z1fZ1gvEUl", "PFvZ1gvEUl", "vE_"},
};

#define CRAFTED (sizeof crafted / sizeof crafted[0])

/* The beginnings of names that double, and the substitutions in them. */
static const struct {
    const char *head;
    size_t made;
} doubles[] = {
    {"_Z1fSt4pairIiiE", 2},
    {"_Z1fSt4pairIPFvvES1_E", 4},
    {"_Z1f1AIM1BFvvEE", 5},
    {"_Z1fIA4_iEv1AIRKT_E", 5},
};

#define DOUBLES (sizeof doubles / sizeof doubles[0])

/* The best of twenty times, in us. */
static double crafted_us(const char *name)
{
    double best = 1e18;

    for (int k = 0; k < 20; k++) {
        double start = now_ns();

        run_ours(name);
        start = now_ns() - start;
        best = start < best ? start : best;
    }
    return best / 1000;
}

static void run_crafted(void)
{
    double worst = 0;
    size_t which = 0;
    uint32_t steps = 0;

    for (size_t i = 0; i < CRAFTED + DOUBLES; i++) {
        char *name = i < CRAFTED ? repeated(crafted[i][0], crafted[i][1],
                                            crafted[i][2], 4096)
                                 : doubling(doubles[i - CRAFTED].head,
                                            doubles[i - CRAFTED].made, 200);
        uint32_t taken = prof_demangle(name, out, sizeof out, &work).steps;
        double us = crafted_us(name);

        if (us > worst) {
            worst = us;
            which = i;
        }
        steps = taken > steps ? taken : steps;
        free(name);
    }
    printf("{\"width\":\"host\",\"name\":\"crafted_worst_us\","
           "\"value\":%.1f,\"unit\":\"us\",\"which\":\"%s%s\"}\n",
           worst,
           which < CRAFTED ? crafted[which][0] : doubles[which - CRAFTED].head,
           which < CRAFTED ? crafted[which][1] : "...");
    printf("{\"width\":\"host\",\"name\":\"crafted_most_steps\","
           "\"value\":%u,\"unit\":\"steps\"}\n",
           steps);
}

int main(int argc, char **argv)
{
    static const char *const labels[] = {"cxx", "legacy", "v0"};
    struct names names[3] = {{NULL, 0}, {NULL, 0}, {NULL, 0}};
    const char *count = NULL;
    bool counted = false;
    size_t rounds = 25;
    int language = 0;

    for (int i = 1; i < argc; i++) {
        int named = -1;

        for (int l = 0; l < 3; l++)
            named = strcmp(argv[i], labels[l]) == 0 ? l : named;
        if (named >= 0)
            language = named;
        else if (strncmp(argv[i], "--count=", 8) == 0)
            count = argv[i] + 8;
        else if (sscanf(argv[i], "--rounds=%zu", &rounds) != 1 || rounds == 0)
            read_names(argv[i], &names[language]);
    }
    for (int l = 0; l < 3 && count != NULL; l++)
        counted |= names[l].count > 0 && count_names(count, 1u << l, &names[l]);
    if (count != NULL)
        return counted ? 0 : 1;
    for (int l = 0; l < 3; l++)
        if (names[l].count > 0)
            run_names(labels[l], 1u << l, &names[l], rounds);
    run_crafted();
    return 0;
}
