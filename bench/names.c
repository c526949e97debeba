/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long names take: ours beside the libraries that are installed, all in
 * one run on the same names.
 *
 *     names_bench [--rounds=N] FILE...
 *
 * A file holds names, one a line. For each file and engine: the mean over all
 * names (best of N rounds), the 99th percentile and the longest single name,
 * in ns, and the ratio of the means to ours. Others are found at run time with
 * dlopen: binutils' libiberty (in libbfd) for C++ and Rust, libc++abi and
 * LLVM. One that is not installed is left out. At the end, names made to be
 * expensive: 4 KiB of input into 4 KiB of output.
 */

#include <dlfcn.h>
#include <prof/demangle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef void *engine_fn(const char *name, size_t bytes);

static struct prof_demangle_work work;
static char out[4097];

static char *(*iberty_cxx)(const char *, int);
static char *(*iberty_rust)(const char *, int);
static char *(*cxxabi)(const char *, char *, size_t *, int *);
static char *(*llvm_cxx)(size_t, const char *, bool);
static char *(*llvm_rust)(size_t, const char *);

static void *run_ours(const char *name, size_t bytes)
{
    (void)bytes;
    prof_demangle(name, out, sizeof out, &work);
    return NULL;
}

/* DMGL_PARAMS | DMGL_ANSI, no limit on recursion: as c++filt -i -r */
#define IBERTY_OPTIONS (1 | 2 | 1 << 18)

static void *run_iberty_cxx(const char *name, size_t bytes)
{
    (void)bytes;
    return iberty_cxx(name, IBERTY_OPTIONS);
}

static void *run_iberty_rust(const char *name, size_t bytes)
{
    (void)bytes;
    return iberty_rust(name, IBERTY_OPTIONS);
}

static void *run_cxxabi(const char *name, size_t bytes)
{
    int status;

    (void)bytes;
    return cxxabi(name, NULL, NULL, &status);
}

/* A std::string_view is passed as its two members. */
static void *run_llvm_cxx(const char *name, size_t bytes)
{
    return llvm_cxx(bytes, name, true);
}

static void *run_llvm_rust(const char *name, size_t bytes)
{
    return llvm_rust(bytes, name);
}

struct engine {
    const char *label;
    engine_fn *run;
    void **symbol;
    const char *symbol_name;
    const char *libraries[4];
    bool rust, cxx;
};

static const struct engine engines[] = {
    {"parasite", run_ours, NULL, NULL, {NULL}, true, true},
    {"libiberty",
     run_iberty_cxx,
     (void **)&iberty_cxx,
     "cplus_demangle_v3",
     {"libbfd-2.40-system.so", "libbfd.so", NULL},
     false,
     true},
    {"libiberty (rust)",
     run_iberty_rust,
     (void **)&iberty_rust,
     "rust_demangle",
     {"libbfd-2.40-system.so", "libbfd.so", NULL},
     true,
     false},
    {"libc++abi",
     run_cxxabi,
     (void **)&cxxabi,
     "__cxa_demangle",
     {"libc++abi.so.1", NULL},
     false,
     true},
    {"LLVM 19",
     run_llvm_cxx,
     (void **)&llvm_cxx,
     "_ZN4llvm15itaniumDemangleESt17basic_string_viewIcSt11char_traitsIcEEb",
     {"libLLVM.so.19.1", "libLLVM-19.so.1", NULL},
     false,
     true},
    {"LLVM 19 (rust)",
     run_llvm_rust,
     (void **)&llvm_rust,
     "_ZN4llvm12rustDemangleESt17basic_string_viewIcSt11char_traitsIcEE",
     {"libLLVM.so.19.1", "libLLVM-19.so.1", NULL},
     true,
     false},
};

#define ENGINES (sizeof engines / sizeof engines[0])

struct names {
    char **text;
    size_t *bytes;
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
    if (engine->symbol == NULL || *engine->symbol != NULL)
        return true;
    for (int i = 0; engine->libraries[i] != NULL; i++) {
        void *library = dlopen(engine->libraries[i], RTLD_NOW | RTLD_LOCAL);

        if (library == NULL)
            continue;
        *engine->symbol = dlsym(library, engine->symbol_name);
        if (*engine->symbol != NULL)
            return true;
    }
    return false;
}

static struct names read_names(const char *path)
{
    struct names names = {NULL, NULL, 0};
    size_t room = 0, line_room = 0;
    char *line = NULL;
    ssize_t got;
    FILE *file = fopen(path, "r");

    if (file == NULL) {
        perror(path);
        exit(1);
    }
    while ((got = getline(&line, &line_room, file)) > 0) {
        if (line[got - 1] == '\n')
            line[--got] = 0;
        if (names.count == room) {
            room = room ? room * 2 : 1024;
            names.text = realloc(names.text, room * sizeof *names.text);
            names.bytes = realloc(names.bytes, room * sizeof *names.bytes);
        }
        names.text[names.count] = strdup(line);
        names.bytes[names.count++] = (size_t)got;
    }
    free(line);
    fclose(file);
    return names;
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
        free(engine->run(names->text[i], names->bytes[i]));
    return (now_ns() - start) / (double)names->count;
}

/* Each name's best of three, so that an interrupt does not count. */
static void spread_ns(const struct engine *engine, const struct names *names,
                      double *p99, double *longest)
{
    double *each = malloc((names->count + 1) * sizeof *each);

    for (size_t i = 0; i < names->count; i++) {
        each[i] = 1e18;
        for (int k = 0; k < 3; k++) {
            double start = now_ns();

            free(engine->run(names->text[i], names->bytes[i]));
            start = now_ns() - start;
            each[i] = start < each[i] ? start : each[i];
        }
    }
    qsort(each, names->count, sizeof *each, compare);
    *p99 = each[names->count * 99 / 100];
    *longest = each[names->count - 1];
    free(each);
}

static void run_file(const char *path, int rounds)
{
    struct names names = read_names(path);
    double ours = 0, best[ENGINES];
    bool rust = names.count > 0 && strstr(names.text[0], "_R") != NULL;

    if (names.count == 0)
        return;
    rust = names.text[names.count / 2][1] == 'R';
    printf("%s: %zu names\n", path, names.count);
    for (size_t e = 0; e < ENGINES; e++)
        best[e] = 1e18;
    for (int round = 0; round < rounds; round++)
        for (size_t e = 0; e < ENGINES; e++)
            if ((rust ? engines[e].rust : engines[e].cxx) &&
                load(&engines[e])) {
                double ns = mean_ns(&engines[e], &names);

                best[e] = ns < best[e] ? ns : best[e];
            }
    ours = best[0];
    for (size_t e = 0; e < ENGINES; e++) {
        double p99, longest;

        if (best[e] > 1e17)
            continue;
        spread_ns(&engines[e], &names, &p99, &longest);
        printf("  %-17s mean %6.0f ns  p99 %7.0f  longest %8.0f  "
               "%5.2f of ours\n",
               engines[e].label, best[e], p99, longest, best[e] / ours);
    }
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

/* _Z1fI 1A I S_ S_ E ... : each substitution uses the one before it twice. */
static char *doubling(size_t levels)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    char *name = malloc(64 + levels * 24);
    size_t n = (size_t)sprintf(name, "_Z1fSt4pairIiiE");

    for (size_t i = 0; i < levels; i++) {
        char sub[8] = "S_";
        size_t index = i + 1;

        if (index > 36)
            sprintf(sub, "S%c%c_", digits[(index - 1) / 36],
                    digits[(index - 1) % 36]);
        else
            sprintf(sub, "S%c_", digits[index - 1]);
        n += (size_t)sprintf(name + n, "S_I%s%sE", sub, sub);
    }
    return name;
}

static void run_crafted(void)
{
    char *names[] = {
        doubling(40),
        doubling(200),
        repeated("_Z1f", "P", "i", 4096),
        repeated("_Z1f", "PFvPK", "i", 4096),
        repeated("_Z1f", "1AI", "", 4096),
        repeated("_Z1fIJiiiiiiiiEEv", "DpPT_", "", 4096),
        repeated("_Z", "Z1fvE", "1x", 4096),
        repeated("_Z1f", "i", "", 4096),
        repeated("_Z1f", "3abc", "", 4096),
        repeated("_Z1f", "cvT_I", "", 4096),
        repeated("_ZN1A", "cvT_I", "", 4096),
        repeated("_Z1fDT", "plLi1E", "", 4096),
        repeated("_Z1f", "K", "i", 4096),
        repeated("_Z1fIA5_A6_iEv", "RKT_", "", 4096),
        repeated("_RIC1a", "B_", "E", 4096),
        repeated("_RNvC1a1b", "B", "", 4096),
        repeated("_RIC1a", "TB2_B2_E", "E", 4096),
        repeated("_RIC1aFGzzzz_", "E", "uE", 4096),
        repeated("_RINvC1a1b", "FG9_", "EuE", 4096),
        repeated("_RNvC1a", "u9bcher_kva", "", 4096),
        repeated("_RNvC1au4000", "a", "", 4006),
        repeated("_ZN", "1a", "17h0123456789abcdefE", 4096),
        repeated("camlA", "$41__", "", 4096),
        repeated("_Z4000", "a", "", 4006),
        repeated("_Z1fI", "Li1E", "Evv", 4096),
        repeated("_Z1fU3foo", "U3foo", "PFvvE", 4096),
        repeated("_Z1fZ1gvEUl", "PFvZ1gvEUl", "vE_", 4096),
    };
    double worst = 0;
    size_t which = 0;
    uint32_t steps = 0;

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        double best = 1e18;
        struct prof_demangled got =
            prof_demangle(names[i], out, sizeof out, &work);

        for (int k = 0; k < 20; k++) {
            double start = now_ns();

            run_ours(names[i], 0);
            start = now_ns() - start;
            best = start < best ? start : best;
        }
        if (best > worst) {
            worst = best;
            which = i;
        }
        if (got.steps > steps)
            steps = got.steps;
        if (getenv("NAMES_VERBOSE") != NULL)
            printf("  %8.0f ns %6u steps %d %.40s -> %.50s\n", best, got.steps,
                   got.truncated, names[i], out);
    }
    printf("crafted, 4 KiB into 4 KiB: worst %.1f us (%.24s...), "
           "most steps %u\n",
           worst / 1000, names[which], steps);
}

int main(int argc, char **argv)
{
    int rounds = 5;

    for (int i = 1; i < argc; i++)
        if (sscanf(argv[i], "--rounds=%d", &rounds) != 1)
            run_file(argv[i], rounds);
    run_crafted();
    return 0;
}
