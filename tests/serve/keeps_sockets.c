/* SPDX-License-Identifier: Apache-2.0 */
/* To be loaded before libc: a socket that is closed stays open by another
 * number, as in a process that was forked and has not closed it yet. */

#define _GNU_SOURCE

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int close(int file)
{
    struct stat about;

    if (fstat(file, &about) == 0 && S_ISSOCK(about.st_mode))
        (void)fcntl(file, F_DUPFD_CLOEXEC, 200);
    return (int)syscall(SYS_close, file);
}
