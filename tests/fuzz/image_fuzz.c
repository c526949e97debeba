/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Feeds anything to what reads symbols of an image on the host. What can be
 * read is then read as two images, of which the second one is moved.
 */

#define _GNU_SOURCE /* memfd_create() */

#include "fuzz.h"

#include "image/image.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static jmp_buf refused;

/* In place of base/log.c, where they end the process. */
void die(const char *format, ...)
{
    (void)format;
    longjmp(refused, 1);
}

void log_error(const char *format, ...)
{
    (void)format;
}

/* Functions are sorted, and each is found at its address. */
static void look_at(const struct image *image)
{
    uint64_t address;

    for (size_t i = 0; i < image->count; ++i) {
        const struct image_symbol *at = &image->functions[i];

        require(i == 0 || at->start > at[-1].start);
        require(at->end == at->start || at->end < at->start ||
                image_function(image, at->start) == at);
    }
    image_object(image, "prof_share_ring", &address);
}

/* Images that are moved stay apart. */
static void look_at_both(const struct image *first)
{
    const struct image *moved = first->next;

    require(moved->moved <= UINT64_MAX - moved->end);
    require(first->begin >= moved->end + moved->moved ||
            moved->begin + moved->moved >= first->end);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static struct image image;
    char path[64], both[2 * sizeof path];
    int file = memfd_create("image", 0);

    require(write(file, data, bytes) == (ssize_t)bytes);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (setjmp(refused) == 0) {
        image_open(&image, path);
        look_at(&image);
        image_close(&image);
        snprintf(both, sizeof both, "%s%c%s", path, IMAGE_PATHS_MARK, path);
        image_open(&image, both);
        look_at_both(&image);
        image_close(&image);
    }
    close(file);
    return 0;
}
