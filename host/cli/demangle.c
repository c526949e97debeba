/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parasite demangle: a filter like c++filt, for every language that the
 * profiler supports, with the same code that runs inside the image.
 *
 * In text, a name is the longest run of letters, digits and "_$.", except for
 * leading '.' or '$', and for full stops at its end, where a sentence may end.
 * Bytes above 0x7f count as letters first; if that gives no name, they do not.
 */

#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/arguments.h"

#include <errno.h>
#include <error.h>
#include <prof/demangle.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    enum prof_language language;
    unsigned long width; /* columns for a name, 0 = whole */
    bool line;
    char **names; /* none: standard input */
    size_t count;
} request = {.language = PROF_LANGUAGE_AUTO};

/* The result; grows until it fits. */
static char *answer;
static size_t answer_room;
static struct prof_demangle_work work;

static void *grow_buffer(void *memory, size_t bytes)
{
    void *more = realloc(memory, bytes);

    if (more == NULL)
        error(EXIT_FAILURE, errno, "parasite demangle");
    return more;
}

/* Demangles the NUL-terminated (name) into answer. */
static struct prof_demangled demangle(const char *name)
{
    struct prof_demangled got;

    for (;;) {
        if (answer_room == 0)
            answer = grow_buffer(answer, answer_room = 4096);
        got = prof_demangle_as(request.language, name, answer, answer_room,
                               &work);
        if (!got.truncated || got.bytes + 8 < answer_room)
            return got;
        answer = grow_buffer(answer, answer_room *= 4);
    }
}

/* Bytes of the first (columns) characters of UTF-8 text. */
static size_t columns_bytes(const char *text, size_t bytes,
                            unsigned long columns)
{
    size_t n = 0;

    while (n < bytes) {
        if (((unsigned char)text[n] & 0xc0) != 0x80 && columns-- == 0)
            break;
        n++;
    }
    return n;
}

static void print_cut(const char *text, size_t bytes)
{
    if (request.width > 0 &&
        columns_bytes(text, bytes, request.width) < bytes) {
        bytes = columns_bytes(text, bytes, request.width - 1);
        fwrite(text, 1, bytes, stdout);
        fputs("\u2026", stdout);
    } else {
        fwrite(text, 1, bytes, stdout);
    }
}

/* A name may stand for any character, such as $1b in OCaml's. */
static void print_answer(size_t bytes)
{
    static char *shown;
    size_t room = PRINTABLE_ESCAPE * bytes + 1;

    shown = grow_buffer(shown, room);
    printable(answer, shown, room);
    print_cut(shown, strlen(shown));
}

/* Prints the meaning of the name of (bytes) bytes at (text); prints nothing and
 * returns false if it is not a name. text[bytes] is overwritten temporarily. */
static bool print_name(char *text, size_t bytes)
{
    char kept = text[bytes];
    struct prof_demangled got;

    if (bytes == 0 || bytes > PROF_DEMANGLE_NAME_MAX ||
        memchr(text, 0, bytes) != NULL)
        return false;
    text[bytes] = 0;
    got = demangle(text);
    text[bytes] = kept;
    if (got.language == PROF_LANGUAGE_NONE)
        return false;
    print_answer(got.bytes);
    return true;
}

static bool is_name_byte(int c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '.';
}

static void print_run(char *run, size_t bytes)
{
    size_t from = 0, whole = bytes;

    if (bytes > 1 && (run[0] == '.' || run[0] == '$'))
        putchar(run[from++]);
    while (whole > from && run[whole - 1] == '.')
        whole--;
    if (print_name(run + from, whole - from))
        from = whole;
    fwrite(run + from, 1, bytes - from, stdout);
}

/* The same for a run that may hold bytes above 0x7f. */
static void print_wide_run(char *run, size_t bytes)
{
    size_t at = 0;
    bool wide = false;

    for (size_t i = 0; i < bytes; i++)
        wide = wide || !is_name_byte((unsigned char)run[i]);
    if (wide && print_name(run, bytes))
        return;
    while (at < bytes) {
        size_t end = at;

        while (end < bytes && is_name_byte((unsigned char)run[end]))
            end++;
        if (end > at)
            print_run(run + at, end - at);
        else
            putchar(run[end++]);
        at = end;
    }
}

static void filter_text(void)
{
    size_t room = 4096, bytes = 0;
    char *run = grow_buffer(NULL, room);
    int c;

    do {
        c = getchar();
        if (c != EOF && (is_name_byte(c) || c >= 0x80)) {
            if (bytes + 2 > room)
                run = grow_buffer(run, room *= 2);
            run[bytes++] = (char)c;
            continue;
        }
        if (bytes > 0)
            print_wide_run(run, bytes);
        bytes = 0;
        if (c != EOF)
            putchar(c);
        if (c == '\n')
            fflush(stdout);
    } while (c != EOF);
    free(run);
}

static void filter_lines(void)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t got;

    while ((got = getline(&line, &room, stdin)) >= 0) {
        size_t bytes = (size_t)got;
        bool ended = bytes > 0 && line[bytes - 1] == '\n';

        if (ended)
            bytes--;
        if (!print_name(line, bytes))
            print_cut(line, bytes);
        if (ended)
            putchar('\n');
    }
    free(line);
}

static void set_language(char *word)
{
    static const struct {
        const char *name;
        enum prof_language language;
    } all[] = {
        {"auto", PROF_LANGUAGE_AUTO},
        {"c++", PROF_LANGUAGE_CXX},
        {"rust", PROF_LANGUAGE_RUST},
        {"ocaml", PROF_LANGUAGE_OCAML},
    };

    for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
        if (strcmp(word, all[i].name) == 0) {
            request.language = all[i].language;
            return;
        }
    }
    die_usage("--format is auto, c++, rust or ocaml, not '%s'", word);
}

static void set_width(char *word)
{
    char *end;

    errno = 0;
    request.width = strtoul(word, &end, 10);
    if (errno != 0 || *word < '0' || *word > '9' || *end != 0)
        die_usage("--width takes a number of columns, not '%s'", word);
}

static bool take_name(char *word)
{
    VECTOR_ADD(request.names, request.count, word);
    return true;
}

int command_demangle(int argc, char **argv)
{
    static const struct argument options[] = {
        {"format", 'f', "LANGUAGE", "auto (default), c++, rust or ocaml",
         .take = set_language},
        {"line", 'l', NULL, "treat each line of input as one name",
         .flag = &request.line},
        {"width", 'w', "COLUMNS",
         "cut names to COLUMNS, ending with an ellipsis (0 = never)",
         .take = set_width},
        {0},
    };
    static const struct command_line words = {
        options, "[NAME...]",
        "Demangle names: each NAME, one per line, or without NAME all "
        "mangled names in standard input, leaving other text unchanged."
        "\vFor example:\n  parasite demangle _ZN4core3fmt5writeE\n"
        "  nm image.elf | parasite demangle",
        .take = take_name};

    arguments_parse(&words, argc, argv);
    if (request.names != NULL && request.line)
        die_usage("-l is for standard input, not for names as arguments");
    for (size_t i = 0; i < request.count; i++) {
        struct prof_demangled got = demangle(request.names[i]);

        print_answer(got.bytes);
        putchar('\n');
    }
    if (request.names == NULL && request.line)
        filter_lines();
    else if (request.names == NULL)
        filter_text();
    free(answer);
    answer = NULL;
    answer_room = 0;
    if (ferror(stdin))
        error(EXIT_FAILURE, errno, "parasite demangle: standard input");
    return EXIT_SUCCESS;
}
