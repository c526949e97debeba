/* SPDX-License-Identifier: Apache-2.0 */
/* To be loaded before libc: fsync() of a folder fails with EIO, FAILING_FSYNC
 * times. */

#define _GNU_SOURCE

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_int calls;

int fsync(int file)
{
    const char *times = getenv("FAILING_FSYNC");
    struct stat status;

    if (times != NULL && fstat(file, &status) == 0 && S_ISDIR(status.st_mode) &&
        atomic_fetch_add(&calls, 1) < atoi(times)) {
        errno = EIO;
        return -1;
    }
    return (int)syscall(SYS_fsync, file);
}
