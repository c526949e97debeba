/* SPDX-License-Identifier: Apache-2.0 */
/* stdout: what became of it, and its pager, a child that reads a pipe. */

#define _GNU_SOURCE /* environ, pipe2() */

#include "base/output.h"

#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A closed stdout that nothing was written to is fine. */
static void close_stdout(void)
{
    bool fine = fflush(stdout) == 0;
    int problem = fine ? 0 : errno;

    fine = fine && ferror(stdout) == 0;
    if (fine && fclose(stdout) != 0 && errno != EBADF) {
        problem = errno;
        fine = false;
    }
    if (fine)
        return;
    fprintf(stderr, "%s: stdout cannot be written%s%s\n", log_name,
            problem != 0 ? ": " : "", problem != 0 ? strerror(problem) : "");
    _exit(STATUS_DATA);
}

void output_check(void)
{
    atexit(close_stdout);
}

FILE *output_open(const char *path)
{
    FILE *out = strcmp(path, "-") == 0 ? stdout : fopen(path, "wb");

    if (out == NULL)
        die("%s: cannot be written: %s", path, strerror(errno));
    return out;
}

void output_close(FILE *out, const char *path, bool fine)
{
    if (out != stdout)
        fine = fclose(out) == 0 && fine;
    else
        fine = fine || ferror(stdout) != 0;
    if (!fine)
        die("%s: cannot be written: %s", path, strerror(errno));
}

/* The pager is a child; stdout becomes a pipe to it. */

static bool is_off;
static pid_t child; /* 0 = no pager was started */

void pager_off(void)
{
    is_off = true;
}

bool pager_is_terminal(void)
{
    return child > 0 || isatty(STDOUT_FILENO);
}

/* The pager sees the end of its input, and is waited for. */
static void finish_pager(void)
{
    fflush(stdout);
    close(STDOUT_FILENO);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* Starts (words) with (input) as stdin; 0 if that fails. */
static pid_t start_program(char *const *words, int input)
{
    posix_spawn_file_actions_t actions;
    pid_t process;
    int problem;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    problem = posix_spawnp(&process, words[0], &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    return problem == 0 ? process : 0;
}

static pid_t start_pager(const char *pager, int input)
{
    char *less[] = {(char *)"less", NULL};
    char *shell[] = {(char *)"sh", (char *)"-c", (char *)pager, NULL};

    setenv("LESS", "FRX", 0);
    return start_program(pager != NULL ? shell : less, input);
}

/* Ctrl-C is for the pager while it runs. */
static void ignore_keys(void)
{
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
}

void pager_start(void)
{
    const char *pager = getenv("PAGER");
    int ends[2];

    if (is_off || child > 0 || !isatty(STDOUT_FILENO))
        return;
    if (pager != NULL && (*pager == '\0' || strcmp(pager, "cat") == 0))
        return;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return;
    fflush(stdout);
    child = start_pager(pager, ends[0]);
    close(ends[0]);
    if (child > 0) {
        dup2(ends[1], STDOUT_FILENO);
        ignore_keys();
        atexit(finish_pager);
    }
    close(ends[1]);
}

bool use_color(const char *when)
{
    const char *no_color = getenv("NO_COLOR");

    if (strcmp(when, "auto") != 0)
        return strcmp(when, "always") == 0;
    return pager_is_terminal() && (no_color == NULL || *no_color == '\0');
}
