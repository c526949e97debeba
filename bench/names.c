/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long demangling takes: ours and the installed libraries, in one run on
 * the same names.
 *
 *     names [--rounds=N | --count=ENGINE] [LANGUAGE FILE...]...
 *
 * LANGUAGE is cxx, legacy or v0; a file holds one name per line. Prints lines
 * of JSON for each engine: the mean over all names in ns, the 99th percentile,
 * and the mean as a multiple of ours; each the median of N rounds with the
 * middle half of them. The others are loaded at run time: binutils' libiberty
 * (in libbfd), which also implements rustc-demangle's rules; libc++abi; LLVM.
 * One that is not installed is left out. Crafted names come last.
 *
 * With --count that engine demangles each name once, for valgrind to count its
 * instructions; status 1 if there is no such engine.
 */

#include "names_engines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct names {
    char **text;
    size_t count;
};

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
static void emit(const char *what, const char *language, const char *engine,
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
    double *ns[ENGINES_MAX], *ratio = calloc(rounds, sizeof *ratio);

    printf("{\"width\":\"host\",\"name\":\"names_%s\",\"value\":%zu}\n", label,
           names->count);
    for (size_t e = 0; e < engine_count; e++)
        ns[e] =
            (engines[e].languages & language) != 0 && engine_load(&engines[e])
                ? calloc(rounds, sizeof **ns)
                : NULL;
    for (size_t round = 0; round < rounds; round++)
        for (size_t e = 0; e < engine_count; e++)
            if (ns[e] != NULL)
                ns[e][round] = mean_ns(&engines[e], names);
    for (size_t e = engine_count; e-- > 0;) {
        if (ns[e] == NULL)
            continue;
        for (size_t round = 0; round < rounds; round++)
            ratio[round] = ns[e][round] / ns[0][round];
        if (e > 0)
            emit("demangle", label, engines[e].label, ratio, rounds, "ratio");
        emit("demangle_ns", label, engines[e].label, ns[e], rounds, "ns");
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
    for (size_t e = 0; e < engine_count; e++) {
        if (strcmp(engines[e].label, label) != 0 ||
            (engines[e].languages & language) == 0 || !engine_load(&engines[e]))
            continue;
        for (size_t i = 0; i < names->count; i++)
            free(engines[e].run(names->text[i]));
        return true;
    }
    return false;
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
