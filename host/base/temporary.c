/* SPDX-License-Identifier: Apache-2.0 */

#define _GNU_SOURCE /* nftw() */

#include "base/temporary.h"

#include "base/log.h"
#include "base/text.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

char *temporary_folder(const char *name)
{
    const char *folder = getenv("TMPDIR");
    char *path =
        text_format("%s/parasite-%s-XXXXXX",
                    folder != NULL && *folder != '\0' ? folder : "/tmp", name);

    if (mkdtemp(path) == NULL)
        die("%s: no folder can be made", path);
    return path;
}

static int remove_one(const char *path, const struct stat *status, int kind,
                      struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

void temporary_remove(const char *path)
{
    if (nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS) != 0)
        log_info("%s is left", path);
}
