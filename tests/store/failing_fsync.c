/* SPDX-License-Identifier: Apache-2.0 */
/* To be loaded before libc: fsync() of a folder fails with EIO while there is a
 * file named $FAILING_FSYNC. */

#define _GNU_SOURCE

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int fsync(int file)
{
    const char *sign = getenv("FAILING_FSYNC");
    struct stat status;

    if (sign != NULL && access(sign, F_OK) == 0 && fstat(file, &status) == 0 &&
        S_ISDIR(status.st_mode)) {
        errno = EIO;
        return -1;
    }
    return (int)syscall(SYS_fsync, file);
}
