/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares address lookup: ours, libbacktrace (part of gcc), and libdwfl of
 * elfutils, alternating in one process on the same image and addresses. Usage:
 * lookup LABEL IMAGE [ENGINE] < LINES, where LINES is the output of nm -S (with
 * -D for a stripped image). With ENGINE only that one runs, once, so that
 * valgrind can count its instructions.
 *
 * Prints JSON lines: ns and ratios as the median of the turns, with the middle
 * half of them; memory that a process holds more of than before, once it has
 * asked for every function by name; and the share of questions to which all
 * gave the same function. The others find the name together with the function,
 * ours takes it out of the table when asked ("name").
 */

#define _GNU_SOURCE
#include "functions.h"

#include <backtrace.h>
#include <dlfcn.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <link.h>
#include <prof/symbols.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define QUESTIONS 100000u
#define QUESTIONS_DWFL 50u /* it goes through all symbols for each */
#define TURNS 25u

/* Makes an engine ready for (path); ends the program where it cannot. */
typedef void open_fn(const char *path, const struct table *table);
/* The start of the function at (address), 0 = none. */
typedef uintptr_t find_fn(uintptr_t address);

static struct backtrace_state *backtrace_state;
static const char *name_found; /* by one of the others, NULL = none */

/*
 * libbacktrace reads the symbols of everything that is reported as loaded here:
 * this program, all its libraries, and their debug files if there are any. It
 * must know only the image, as if that ran here, at address 0.
 */
int dl_iterate_phdr(int (*callback)(struct dl_phdr_info *, size_t, void *),
                    void *data)
{
    struct dl_phdr_info image = {.dlpi_name = ""};

    return callback(&image, sizeof image, data);
}

static void backtrace_failed(void *data, const char *message, int code)
{
    embed_fail(data, "libbacktrace: %s (%d)", message, code);
}

static void backtrace_found(void *data, uintptr_t pc, const char *name,
                            uintptr_t start, uintptr_t bytes)
{
    (void)pc;
    (void)bytes;
    name_found = name;
    *(uintptr_t *)data = name != NULL ? start : 0;
}

static uintptr_t backtrace_find(uintptr_t address)
{
    uintptr_t start = 0;

    backtrace_syminfo(backtrace_state, address, backtrace_found,
                      backtrace_failed, &start);
    return start;
}

static void backtrace_open(const char *path, const struct table *table)
{
    (void)table;
    backtrace_state =
        backtrace_create_state(path, 0, backtrace_failed, (void *)path);
    backtrace_find(1); /* reads the file at the first question */
}

static void our_open(const char *path, const struct table *table)
{
    if (prof_symbols_open(table->bytes, table->count, NULL, 0) != 0)
        embed_fail(path, "table is not sound: %d", prof_symbols_error());
}

static uintptr_t our_find(uintptr_t address)
{
    struct prof_symbol found;

    return prof_symbol_find(address, &found) ? found.start : 0;
}

static uintptr_t our_name(uintptr_t address)
{
    struct prof_symbol found;
    char name[4096];

    if (!prof_symbol_find(address, &found))
        return 0;
    prof_symbol_name(&found, name, sizeof name);
    return found.start;
}

/* libdw's functions, found at run time: a process that measures another one's
   memory shall not have it. */
static struct {
    typeof(dwfl_begin) *begin;
    typeof(dwfl_report_begin) *report_begin;
    typeof(dwfl_report_elf) *report_elf;
    typeof(dwfl_report_end) *report_end;
    typeof(dwfl_addrmodule) *addrmodule;
    typeof(dwfl_module_addrinfo) *addrinfo;
    Dwfl *session;
} dw;

static void *dw_symbol(const char *name)
{
    void *library = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
    void *symbol = library != NULL ? dlsym(library, name) : NULL;

    if (symbol == NULL)
        embed_fail("libdw.so.1", "no %s", name);
    return symbol;
}

/* Lines and types are not asked for. */
static int no_debuginfo(Dwfl_Module *module, void **data, const char *name,
                        Dwarf_Addr base, const char *file, const char *link,
                        GElf_Word crc, char **path)
{
    (void)module, (void)data, (void)name, (void)base;
    (void)file, (void)link, (void)crc, (void)path;
    return -1;
}

static void dwfl_open(const char *path, const struct table *table)
{
    static const Dwfl_Callbacks callbacks = {.find_debuginfo = no_debuginfo};
    int file = open(path, O_RDONLY);

    (void)table;
    dw.begin = dw_symbol("dwfl_begin");
    dw.report_begin = dw_symbol("dwfl_report_begin");
    dw.report_elf = dw_symbol("dwfl_report_elf");
    dw.report_end = dw_symbol("dwfl_report_end");
    dw.addrmodule = dw_symbol("dwfl_addrmodule");
    dw.addrinfo = dw_symbol("dwfl_module_addrinfo");
    dw.session = dw.begin(&callbacks);
    dw.report_begin(dw.session);
    if (dw.report_elf(dw.session, "image", path, file, 0, true) == NULL)
        embed_fail(path, "libdwfl cannot read it");
    dw.report_end(dw.session, NULL, NULL);
}

static uintptr_t dwfl_find(uintptr_t address)
{
    Dwfl_Module *module = dw.addrmodule(dw.session, address);
    GElf_Off offset;
    GElf_Sym symbol;

    name_found = module == NULL ? NULL
                                : dw.addrinfo(module, address, &offset, &symbol,
                                              NULL, NULL, NULL);
    return name_found != NULL ? (uintptr_t)(address - offset) : 0;
}

enum { OURS, OUR_NAME, BACKTRACE, DWFL, ENGINES };

static const struct engine {
    const char *label;
    open_fn *open;
    find_fn *find;
    uint32_t questions; /* in a turn */
} engines[ENGINES] = {
    [OURS] = {"ours", our_open, our_find, QUESTIONS},
    [OUR_NAME] = {"ours_name", our_open, our_name, QUESTIONS},
    [BACKTRACE] = {"libbacktrace", backtrace_open, backtrace_find, QUESTIONS},
    [DWFL] = {"libdwfl", dwfl_open, dwfl_find, QUESTIONS_DWFL},
};

/* Under its own name, for valgrind to count what it executes. */
static __attribute__((noinline)) double turn_ns(const struct engine *engine,
                                                const uintptr_t *asked)
{
    double begin = thread_seconds();
    uintptr_t sum = 0;

    for (uint32_t i = 0; i < engine->questions; ++i)
        sum += engine->find(asked[i]);
    __asm__ volatile("" : : "r"(sum));
    return (thread_seconds() - begin) * 1e9 / engine->questions;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* A line with the median of (all) and the middle half of them; sorts (all). */
static void emit(const char *label, const char *what, double all[TURNS],
                 const char *unit)
{
    qsort(all, TURNS, sizeof *all, compare);
    printf("{\"width\":\"host\",\"name\":\"%s_%s\",\"value\":%.2f,"
           "\"low\":%.2f,\"high\":%.2f,\"unit\":\"%s\"}\n",
           what, label, all[TURNS / 2], all[TURNS / 4],
           all[TURNS - 1 - TURNS / 4], unit);
}

static void measure(const char *label, const uintptr_t *asked)
{
    double ns[ENGINES][TURNS], ratio[TURNS];
    char what[64];

    for (unsigned turn = 0; turn < TURNS; ++turn)
        for (size_t e = 0; e < ENGINES; ++e)
            ns[e][turn] = turn_ns(&engines[e], asked);
    for (size_t e = BACKTRACE; e < ENGINES; ++e)
        for (size_t base = OURS; base <= OUR_NAME; ++base) {
            for (unsigned turn = 0; turn < TURNS; ++turn)
                ratio[turn] = ns[e][turn] / ns[base][turn];
            sprintf(what, "%s_%s", base == OURS ? "find" : "name",
                    engines[e].label);
            emit(label, what, ratio, "ratio");
        }
    for (size_t e = 0; e < ENGINES; ++e) {
        sprintf(what, "find_ns_%s", engines[e].label);
        emit(label, what, ns[e], "ns");
    }
}

/* The share, in %, of answers that are ours as well. */
static void agree(const char *label, const uintptr_t *asked)
{
    for (size_t e = BACKTRACE; e < ENGINES; ++e) {
        uint32_t same = 0;

        for (uint32_t i = 0; i < engines[e].questions; ++i)
            same += our_find(asked[i]) == engines[e].find(asked[i]);
        printf("{\"width\":\"host\",\"name\":\"same_%s_%s\","
               "\"value\":%.2f,\"unit\":\"%%\"}\n",
               engines[e].label, label, 100.0 * same / engines[e].questions);
    }
}

/*
 * Bytes that this process holds: what is its own, such as its heap, and what is
 * in memory of the image, where that is mapped. Code of libraries is left out.
 */
static long held(const char *path)
{
    FILE *file = fopen("/proc/self/smaps", "r");
    long kilobytes = 0, resident, own;
    bool of_image = false;
    char line[4096];

    if (file == NULL)
        embed_fail("/proc/self/smaps", "cannot be read");
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (strchr("0123456789abcdef", line[0]) != NULL)
            of_image = strlen(line) > strlen(path) &&
                       strcmp(line + strlen(line) - strlen(path), path) == 0;
        else if (sscanf(line, "Rss: %ld kB", &resident) == 1)
            kilobytes += of_image ? resident : 0;
        else if (sscanf(line, "Anonymous: %ld kB", &own) == 1)
            kilobytes += of_image ? 0 : own;
    }
    fclose(file);
    return 1024 * kilobytes;
}

/*
 * What (engine) holds in a process of its own that has read all names; those of
 * libdwfl, which is slow, of as many functions as it is asked for: it maps
 * them all.
 */
static long memory_of(const struct engine *engine, const struct image *image)
{
    long bytes = 0;
    int ends[2];
    pid_t child;

    if (pipe(ends) != 0 || (child = fork()) < 0)
        embed_fail(image->path, "no process to measure in");
    if (child == 0) {
        size_t all = image->symbols.count, read = 0;
        size_t step = engine->questions < all ? all / engine->questions : 1;

        bytes = held(image->path);
        engine->open(image->path, NULL);
        for (size_t i = 0; i < all; i += step)
            if (engine->find((uintptr_t)image->symbols.at[i].start) != 0)
                read += strlen(name_found);
        bytes = held(image->path) - bytes;
        _exit(read == 0 || write(ends[1], &bytes, sizeof bytes) < 0);
    }
    close(ends[1]);
    if (read(ends[0], &bytes, sizeof bytes) != sizeof bytes)
        embed_fail(image->path, "%s came to no end", engine->label);
    close(ends[0]);
    waitpid(child, NULL, 0);
    return bytes;
}

static void memory(const char *label, const struct image *image,
                   const struct table *table)
{
    printf("{\"width\":\"host\",\"name\":\"table_bytes_%s\",\"value\":%zu,"
           "\"unit\":\"bytes\"}\n",
           label, table->count);
    for (size_t e = BACKTRACE; e < ENGINES; ++e) {
        double ratio[TURNS];
        char what[64];

        for (unsigned turn = 0; turn < TURNS; ++turn)
            ratio[turn] =
                (double)memory_of(&engines[e], image) / (double)table->count;
        sprintf(what, "memory_%s", engines[e].label);
        emit(label, what, ratio, "ratio");
    }
}

/* Asks the engine called (label) alone, and prints how often. */
static void ask_one(const char *label, const char *path,
                    const struct table *table, const uintptr_t *asked)
{
    for (size_t e = 0; e < ENGINES; ++e) {
        if (strcmp(engines[e].label, label) != 0)
            continue;
        engines[e].open(path, table);
        engines[e].find(asked[0]); /* it reads the image now */
        turn_ns(&engines[e], asked);
        printf("%u\n", engines[e].questions);
        return;
    }
    embed_fail(label, "no such engine");
}

int main(int argc, char **argv)
{
    struct image image;
    struct table table;
    uintptr_t *asked;

    if (argc != 3 && argc != 4) {
        fprintf(stderr, "usage: lookup LABEL IMAGE [ENGINE] < nm's lines\n");
        return 2;
    }
    image = functions_read(argv[2]);
    if (image.symbols.count == 0)
        embed_fail(argv[2], "nm listed no function");
    table = table_make(&image, NAMES_AS_PAYS);
    asked = functions_ask(&image, QUESTIONS, true);
    if (argc > 3) {
        ask_one(argv[3], argv[2], &table, asked);
        free(asked);
        return 0;
    }
    memory(argv[1], &image, &table);
    for (size_t e = 0; e < ENGINES; ++e)
        engines[e].open(argv[2], &table);
    agree(argv[1], asked);
    measure(argv[1], asked);
    free(asked);
    return 0;
}
