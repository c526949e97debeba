/* SPDX-License-Identifier: Apache-2.0 */
/* parasite top --attach: a guest seen from outside, live. */

#define _GNU_SOURCE /* pipe2() */

#include "cli/top_attach.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/wait.h"
#include "cli/commands.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define HZ_USUAL 99
#define WORDS_MAX 16

static FILE *talk; /* of the process */
static pid_t process;

/* Waits for its end, prints what it said, and returns its exit code. */
static int wait_for_end(void)
{
    int byte, status = 0;

    waitpid(process, &status, 0);
    process = 0;
    rewind(talk);
    while ((byte = getc(talk)) != EOF)
        putc(byte, stderr);
    fclose(talk);
    return WIFEXITED(status) ? WEXITSTATUS(status) : STATUS_DATA;
}

/* Lets it have the guest run on. */
static void end_process(void)
{
    if (process <= 0)
        return;
    kill(process, SIGTERM);
    wait_for_end();
}

/* Waits for the first packet, which says that there is a guest. Without one
 * the process has printed why, and no screen hides that. It gives up by itself,
 * and a signal ends us both. */
static void wait_for_packet(int packets)
{
    struct pollfd wait = {.fd = packets, .events = POLLIN};

    wait_for(&wait, 1, HUGE_VAL, 0);
    if ((wait.revents & POLLIN) == 0)
        exit(wait_for_end());
}

/* The words for `parasite attach`, ended by NULL. */
static char **words_for(const struct request *request, int packets, int *count)
{
    size_t guest = 0;
    char **words, hz[16], file[16];

    while (request->guest != NULL && request->guest[guest] != NULL)
        ++guest;
    words = xreallocarray(NULL, WORDS_MAX + guest, sizeof *words);
    snprintf(hz, sizeof hz, "%u",
             request->hz != 0 ? (unsigned)request->hz : HZ_USUAL);
    snprintf(file, sizeof file, "%d", packets);
    *count = 0;
    words[(*count)++] = xstrdup("attach");
    words[(*count)++] = xstrdup("-q");
    words[(*count)++] = xstrdup("-F");
    words[(*count)++] = xstrdup(hz);
    words[(*count)++] = xstrdup("--packets");
    words[(*count)++] = xstrdup(file);
    if (request->image != NULL) {
        words[(*count)++] = xstrdup("-k");
        words[(*count)++] = xstrdup(request->image);
    }
    words[(*count)++] =
        xstrdup(request->guest != NULL ? "--" : request->target);
    for (size_t i = 0; i < guest; ++i)
        words[(*count)++] = request->guest[i];
    words[*count] = NULL;
    return words;
}

/* In the process, which must not outlive us. */
static void run_attach(const struct request *request, int packets)
{
    int nothing = open("/dev/null", O_RDONLY), count;
    char **words = words_for(request, packets, &count);

    prctl(PR_SET_PDEATHSIG, SIGTERM);
    signal(SIGPIPE, SIG_IGN); /* the guest is to run on before we end */
    dup2(nothing, STDIN_FILENO);
    dup2(fileno(talk), STDOUT_FILENO);
    dup2(fileno(talk), STDERR_FILENO);
    exit(command_attach(count, words));
}

void top_attach(struct request *request)
{
    static char path[32];
    int ends[2];

    talk = tmpfile();
    if (talk == NULL || pipe2(ends, O_CLOEXEC) != 0)
        die("no temporary file, or no pipe: %s", strerror(errno));
    process = fork();
    if (process < 0)
        die("cannot start a process: %s", strerror(errno));
    if (process == 0) {
        close(ends[0]);
        run_attach(request, ends[1]);
    }
    close(ends[1]);
    atexit(end_process);
    wait_for_packet(ends[0]);
    snprintf(path, sizeof path, "file:/dev/fd/%d", ends[0]);
    request->target = path;
    request->guest = NULL;
    request->hz = 0;
    request->depth = -1;
}
