/* SPDX-License-Identifier: Apache-2.0 */
/* Starts the process of an embedded store, and waits until it answers. */

#define _GNU_SOURCE

#include "base/log.h"
#include "base/text.h"
#include "base/wait.h"
#include "store/embedded.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define IDLE_SECONDS "120" /* without a request, then it ends */
#define POLL_SECONDS 0.05
#define LOG_BYTES_MAX (1 << 20)

bool embedded_listens(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int folder, file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    char *name = embedded_socket(path, &folder);
    bool listens = false;

    if (name != NULL && file >= 0) {
        snprintf(address.sun_path, sizeof address.sun_path, "%s", name);
        listens =
            connect(file, (struct sockaddr *)&address, sizeof address) == 0;
    }
    if (file >= 0)
        close(file);
    if (folder >= 0)
        close(folder);
    free(name);
    return listens;
}

/* This command, if it is parasite; else the one that the shell would find. */
static const char *own_command(void)
{
    static char command[4096];
    ssize_t bytes = readlink("/proc/self/exe", command, sizeof command - 1);

    if (bytes > 0)
        command[bytes] = '\0';
    if (bytes <= 0 || strcmp(path_name(command), "parasite") != 0)
        return "parasite";
    return "/proc/self/exe";
}

/* In the child: becomes the store, or ends. Only async-signal-safe calls: the
 * process may have threads. */
static void become_store(const char *command, const char *path, int log)
{
    char *const words[] = {(char *)"parasite",  (char *)"store",
                           (char *)"--path",    (char *)path,
                           (char *)"--idle",    (char *)IDLE_SECONDS,
                           (char *)"--started", NULL};
    sigset_t none;
    int null = open("/dev/null", O_RDWR);

    setsid(); /* an interrupt at the terminal is not for it */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    dup2(null, 0);
    dup2(log, 1);
    dup2(log, 2);
    for (int file = 3; file < 1024; ++file)
        close(file);
    execvp(command, words);
    _exit(127);
}

/* The log's last line since (begin), in (why). */
static void quote_log(const char *path, const char *name, off_t begin,
                      char *why, size_t room)
{
    char line[400] = "";
    FILE *file = fopen(name, "re");

    if (file != NULL)
        (void)fseeko(file, begin, SEEK_SET);
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        continue;
    line[strcspn(line, "\n")] = '\0';
    if (file != NULL)
        fclose(file);
    snprintf(why, room, "%s: the embedded store did not start%s%s", path,
             *line != '\0' ? ": " : ", see its file log", line);
}

/* Opens its log. What is in it may be of an owner that was faster, so that it
 * is emptied only when it is large. */
static int open_log(const char *name, off_t *begin)
{
    int log = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

    *begin = log < 0 ? 0 : lseek(log, 0, SEEK_END);
    if (*begin > LOG_BYTES_MAX && ftruncate(log, 0) == 0)
        *begin = 0;
    return log;
}

static bool start_store(const char *path, double seconds, char *why,
                        size_t room)
{
    double deadline = seconds_now() + seconds;
    char *name;
    int log, status = 0;
    off_t begin;
    pid_t child;
    static pid_t last; /* the process that was started before: it may end */

    if (last > 0 && waitpid(last, NULL, WNOHANG) != 0)
        last = 0;
    if (embedded_listens(path))
        return true;
    if (mkdir(path, 0700) != 0 && errno != EEXIST) {
        snprintf(why, room, "%s: %s", path, strerror(errno));
        return false;
    }
    name = text_format("%s/log", path);
    log = open_log(name, &begin);
    child = log < 0 ? -1 : fork();
    if (child == 0)
        become_store(own_command(), path, log);
    if (child < 0)
        snprintf(why, room, "%s: %s", name, strerror(errno));
    if (log >= 0)
        close(log);
    while (child > 0 && !embedded_listens(path)) {
        bool ended = waitpid(child, &status, WNOHANG) == child;

        /* if another process was faster, that one answers soon */
        if (ended && status != 0) {
            quote_log(path, name, begin, why, room);
            child = -1;
        } else if (seconds_now() > deadline || signals_caught()) {
            snprintf(why, room, "%s: the embedded store does not answer", path);
            child = -1;
        } else {
            wait_until(seconds_now() + POLL_SECONDS);
        }
    }
    free(name);
    if (child > 0)
        last = child;
    return child > 0;
}

bool embedded_start(const char *path, double seconds, char *why, size_t room)
{
    /* one at a time: threads of senders and of who asks come here */
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    bool fine;

    pthread_mutex_lock(&lock);
    fine = start_store(path, seconds, why, room);
    pthread_mutex_unlock(&lock);
    return fine;
}

void embedded_stop(const char *path)
{
    char *name = text_format("%s/lock", path), number[32] = "";
    int lock = open(name, O_RDONLY | O_CLOEXEC);
    long owner = 0;

    if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) != 0 &&
        pread(lock, number, sizeof number - 1, 0) > 0)
        owner = strtol(number, NULL, 10);
    if (owner > 0 && kill((pid_t)owner, SIGTERM) == 0)
        (void)flock(lock, LOCK_EX); /* it holds it until it is gone */
    if (lock >= 0)
        close(lock);
    free(name);
}
