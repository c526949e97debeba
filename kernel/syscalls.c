/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The system calls that newlib needs. File descriptors 1 and 2 are the serial
 * console. There are no files, no other processes and no input: other calls
 * fail with the appropriate errno.
 */

#include "clock.h"

#include <cmos.h>
#include <errno.h>
#include <fcntl.h>
#include <kernel/clock.h>
#include <kernel/console.h>
#include <kernel/panic.h>
#include <kernel/service.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/wait.h>
#include <unistd.h>

#define STDERR 2
#define PID 1
#define US_PER_S 1000000u

static int fail(int error)
{
    errno = error;
    return -1;
}

static bool open_file(int file)
{
    return file >= 0 && file <= STDERR;
}

_READ_WRITE_RETURN_TYPE write(int file, const void *bytes, size_t count)
{
    if (!open_file(file) || file == 0)
        return fail(EBADF);
    console_write(bytes, count);
    return (_READ_WRITE_RETURN_TYPE)count;
}

/* Always end of file. */
_READ_WRITE_RETURN_TYPE read(int file, void *bytes, size_t count)
{
    (void)bytes;
    (void)count;
    return open_file(file) ? 0 : fail(EBADF);
}

/* A character device, so that stdio writes whole lines. */
int fstat(int file, struct stat *status)
{
    if (!open_file(file))
        return fail(EBADF);
    *status = (struct stat){.st_mode = S_IFCHR};
    return 0;
}

int isatty(int file)
{
    if (open_file(file))
        return 1;
    errno = EBADF;
    return 0;
}

off_t lseek(int file, off_t offset, int whence)
{
    (void)offset;
    (void)whence;
    return fail(open_file(file) ? ESPIPE : EBADF);
}

int close(int file)
{
    return open_file(file) ? 0 : fail(EBADF);
}

int open(const char *path, int flags, ...)
{
    (void)path;
    (void)flags;
    return fail(ENOENT);
}

int stat(const char *restrict path, struct stat *restrict status)
{
    (void)path;
    (void)status;
    return fail(ENOENT);
}

int unlink(const char *path)
{
    (void)path;
    return fail(ENOENT);
}

int link(const char *from, const char *to)
{
    (void)from;
    (void)to;
    return fail(ENOENT);
}

pid_t getpid(void)
{
    return PID;
}

/* Called by raise(), and so by abort() and failed assertions. */
int kill(pid_t pid, int signal)
{
    if (pid != PID)
        return fail(ESRCH);
    if (signal == SIGABRT)
        panic("abort() was called");
    panic("a signal was raised");
}

/* The CMOS clock, for clock=cmos, has no fractions of a second. */
int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    uint64_t seconds;

    (void)zone;
    if (clock_by_cmos()) {
        *now = (struct timeval){.tv_sec = (time_t)cmos_unix_seconds()};
        return 0;
    }
    do { /* until both are read within the same second */
        seconds = clock_unix_seconds();
        now->tv_usec = (suseconds_t)(clock_ns() / 1000 % US_PER_S);
    } while (seconds != clock_unix_seconds());
    now->tv_sec = (time_t)seconds;
    return 0;
}

/* All time since boot is user time. */
clock_t times(struct tms *used)
{
    uint64_t now = clock_ns() / (1000000000u / CLOCKS_PER_SEC);

    *used = (struct tms){.tms_utime = (clock_t)now};
    return (clock_t)now;
}

/* There are no other processes, so system() fails. */
int fork(void)
{
    return fail(ENOSYS);
}

int execve(const char *path, char *const arguments[], char *const environment[])
{
    (void)path;
    (void)arguments;
    (void)environment;
    return fail(ENOSYS);
}

pid_t wait(int *status)
{
    (void)status;
    return fail(ECHILD);
}

void _exit(int code)
{
    kernel_exit(code);
}
