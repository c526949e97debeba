/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EMBED_RUNNER_H
#define EMBED_RUNNER_H

/*
 * Runs the link step that writes symbol tables, as a program: the one that
 * EMBED names in the environment, else build/host/embed. Each test has an empty
 * folder to write in, with the files a.elf, b.elf and out.
 */

#include "../unit.h"

#include <sys/wait.h>
#include <unistd.h>

#include "elf_maker.h"

#define FUNC(name, value, size)                                                \
    {                                                                          \
        name, ELF_TEXT + (value), size, STT_FUNC, STB_GLOBAL, ELF_IN_TEXT      \
    }
#define LABEL(name, value)                                                     \
    {                                                                          \
        name, ELF_TEXT + (value), 0, STT_NOTYPE, STB_LOCAL, ELF_IN_TEXT        \
    }

static char folder[64];
static char output[4096]; /* what the last run() printed, both streams */

static inline void make_folder(void)
{
    strcpy(folder, "/tmp/embed_test_XXXXXX");
    assert_non_null(mkdtemp(folder));
}

static inline const char *in_folder(const char *name)
{
    static char paths[4][128];
    static unsigned next;
    char *path = paths[next++ % 4];

    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static inline void remove_folder(void)
{
    static const char *const names[] = {"a.elf", "b.elf", "out"};

    for (size_t i = 0; i < COUNT(names); ++i)
        unlink(in_folder(names[i]));
    assert_int_equal(rmdir(folder), 0);
}

static inline void write_file(const char *name, const void *bytes, size_t count)
{
    FILE *file = fopen(in_folder(name), "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

static inline void write_elf(const char *name, const struct elf_plan *plan)
{
    struct elf_file *file = elf_make(plan);

    write_file(name, file->bytes, file->used);
    free(file);
}

/* The bytes of (name), in memory of that length. */
static inline void *read_file(const char *name, size_t *count)
{
    FILE *file = fopen(in_folder(name), "rb");
    static uint8_t bytes[65536];
    void *copy;

    assert_non_null(file);
    *count = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    copy = malloc(*count);
    memcpy(copy, bytes, *count);
    return copy;
}

/* Runs embed with (arguments) in the folder; returns its exit status. */
static inline int run(const char *arguments)
{
    const char *program = getenv("EMBED");
    char command[8192], path[4096];
    size_t used;
    FILE *pipe;

    if (program == NULL)
        program = "build/host/embed";
    assert_non_null(realpath(program, path));
    snprintf(command, sizeof command, "cd %s && '%s' %s 2>&1", folder, path,
             arguments);
    pipe = popen(command, "r");
    assert_non_null(pipe);
    used = fread(output, 1, sizeof output - 1, pipe);
    output[used] = '\0';
    return WEXITSTATUS(pclose(pipe));
}

/* One line, status 1, and (words) in it. */
static inline void expect_failure(const char *arguments, const char *words)
{
    assert_int_equal(run(arguments), 1);
    if (strstr(output, words) == NULL)
        fail_msg("\"%s\" is not in: %s", words, output);
    assert_ptr_equal(strchr(output, '\n'), output + strlen(output) - 1);
    assert_memory_equal(output, "embed: ", 7);
}

static inline struct elf_plan plan_of(const struct elf_symbol *symbols,
                                      size_t count)
{
    return (struct elf_plan){
        .symbols = symbols, .count = count, .build_id_bytes = 20};
}

#endif
