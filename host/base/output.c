/* SPDX-License-Identifier: Apache-2.0 */
/* What became of stdout. */

#include "base/output.h"

#include "base/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
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

bool output_close(FILE *out, bool fine)
{
    if (out != stdout)
        return fclose(out) == 0 && fine;
    return fine || ferror(stdout) != 0;
}
