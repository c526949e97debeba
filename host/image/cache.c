/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cache of images. A file is written under another name and renamed, so
 * that processes at the same time never see half of one; its time of
 * modification is when it was used last.
 */

#define _GNU_SOURCE /* mkostemp() */

#include "image/cache.h"

#include "base/log.h"
#include "base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ID_BYTES_MIN 4u /* a shorter one is no identity */
#define PIECE_BYTES 65536u
#define MIB (1u << 20)

static char *join(const char *folder, const char *name)
{
    char *path =
        xreallocarray(NULL, strlen(folder) + strlen(name) + 2, sizeof *path);

    sprintf(path, "%s/%s", folder, name);
    return path;
}

/* The folder, to be freed; NULL = there is to be none. */
static char *folder_name(void)
{
    const char *own = getenv("PARASITE_CACHE");
    const char *all = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    char *path, *below;

    if (own != NULL)
        return *own == '\0' || strcmp(own, "off") == 0 ? NULL : xstrdup(own);
    /* the XDG specification has relative paths ignored */
    if (all != NULL && *all == '/')
        return join(all, "parasite");
    if (home == NULL || *home != '/')
        return NULL;
    path = join(home, ".cache");
    below = join(path, "parasite");
    free(path);
    return below;
}

static uint64_t room(void)
{
    const char *text = getenv("PARASITE_CACHE_MB");
    unsigned long long mib = CACHE_MB;
    char *end;

    if (text != NULL && *text != '\0') {
        mib = strtoull(text, &end, 10);
        if (*end != '\0' || *text == '-' || mib > UINT64_MAX / MIB)
            die_usage("PARASITE_CACHE_MB is a number of MiB, not '%s'", text);
    }
    return (uint64_t)mib * MIB;
}

/* The file's name, of hexadecimal digits. */
static void id_name(const uint8_t *build_id, size_t bytes, char *name)
{
    for (size_t i = 0; i < bytes; ++i)
        sprintf(name + 2 * i, "%02x", build_id[i]);
}

char *cache_find(const uint8_t *build_id, size_t bytes)
{
    char *folder = bytes >= ID_BYTES_MIN && bytes <= 32 ? folder_name() : NULL;
    char name[65], *path;

    if (folder == NULL)
        return NULL;
    id_name(build_id, bytes, name);
    path = join(folder, name);
    free(folder);
    if (access(path, R_OK) == 0) {
        utimensat(AT_FDCWD, path, NULL, 0);
        return path;
    }
    free(path);
    return NULL;
}

/* Makes (path) and the folders above it. */
static bool make_folder(const char *path)
{
    char *copy = xstrdup(path);

    for (char *at = copy + 1; *at != '\0'; ++at) {
        if (*at != '/')
            continue;
        *at = '\0';
        mkdir(copy, 0777);
        *at = '/';
    }
    free(copy);
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

static bool copy_bytes(int from, int to)
{
    static char bytes[PIECE_BYTES];
    ssize_t count;

    while ((count = read(from, bytes, sizeof bytes)) > 0) {
        for (ssize_t done = 0; done < count;) {
            ssize_t written = write(to, bytes + done, (size_t)(count - done));

            if (written <= 0)
                return false;
            done += written;
        }
    }
    return count == 0;
}

/* Whether both have the same bytes. */
static bool same_file(int from, const char *path)
{
    static char ours[PIECE_BYTES], theirs[PIECE_BYTES];
    FILE *there = fopen(path, "rbe");
    bool same = there != NULL;
    ssize_t count;

    while (same && (count = read(from, ours, sizeof ours)) > 0)
        same = fread(theirs, 1, (size_t)count, there) == (size_t)count &&
               memcmp(ours, theirs, (size_t)count) == 0;
    if (there != NULL)
        fclose(there);
    lseek(from, 0, SEEK_SET);
    return same;
}

/* Of two with one build-id the larger one is kept: the other was stripped. */
static bool is_wanted(int from, const struct stat *about, const char *path)
{
    struct stat there;

    if (stat(path, &there) != 0 || there.st_size < about->st_size)
        return true;
    return there.st_size == about->st_size && !same_file(from, path);
}

static void write_copy(int from, const char *folder, const char *path)
{
    char *made = join(folder, ".new-XXXXXX");
    int to = mkostemp(made, O_CLOEXEC);
    bool fine = to >= 0 && copy_bytes(from, to);

    if (to >= 0)
        fine = close(to) == 0 && fine;
    fine = fine && rename(made, path) == 0;
    if (!fine) {
        log_verbose("%s: the image is not kept: %s", path, strerror(errno));
        if (to >= 0)
            unlink(made);
    }
    free(made);
}

struct kept {
    char *path;
    uint64_t bytes;
    struct timespec used;
};

static int by_use(const void *left, const void *right)
{
    const struct kept *a = left, *b = right;

    if (a->used.tv_sec != b->used.tv_sec)
        return a->used.tv_sec < b->used.tv_sec ? -1 : 1;
    return (a->used.tv_nsec > b->used.tv_nsec) -
           (a->used.tv_nsec < b->used.tv_nsec);
}

/* What a killed process has left behind begins with a dot, and is removed like
 * the rest; other files are not ours. */
static bool is_ours(const char *name)
{
    return strncmp(name, ".new-", 5) == 0 ||
           (strlen(name) >= 2 * ID_BYTES_MIN &&
            name[strspn(name, "0123456789abcdef")] == '\0');
}

static struct kept *list(const char *folder, size_t *count, uint64_t *bytes)
{
    DIR *all = opendir(folder);
    const struct dirent *one;
    struct kept *files = NULL;
    struct stat about;

    *count = 0;
    *bytes = 0;
    while (all != NULL && (one = readdir(all)) != NULL) {
        if (!is_ours(one->d_name) ||
            fstatat(dirfd(all), one->d_name, &about, AT_SYMLINK_NOFOLLOW) !=
                0 ||
            !S_ISREG(about.st_mode))
            continue;
        vector_reserve_one(&files, *count, sizeof *files);
        files[(*count)++] = (struct kept){
            join(folder, one->d_name), (uint64_t)about.st_size, about.st_mtim};
        *bytes += (uint64_t)about.st_size;
    }
    if (all != NULL)
        closedir(all);
    if (*count > 0)
        qsort(files, *count, sizeof *files, by_use);
    return files;
}

/* Removes what was not used for longest until (more) bytes have room. */
static void make_room(const char *folder, uint64_t more)
{
    size_t count;
    uint64_t bytes, most = room();
    struct kept *files = list(folder, &count, &bytes);

    for (size_t i = 0; i < count; ++i) {
        if (bytes + more > most && unlink(files[i].path) == 0) {
            log_verbose("%s: removed, the cache is full", files[i].path);
            bytes -= files[i].bytes;
        }
        free(files[i].path);
    }
    free(files);
}

static void keep(const struct image *image, const char *folder)
{
    const char *file = image_file(image);
    int from = file != NULL ? open(file, O_RDONLY | O_CLOEXEC) : -1;
    struct stat about;
    char name[65], *path;

    if (from < 0)
        return;
    id_name(image->build_id, image->build_id_bytes, name);
    path = join(folder, name);
    if (fstat(from, &about) == 0 && S_ISREG(about.st_mode) &&
        (uint64_t)about.st_size <= room() && make_folder(folder)) {
        if (is_wanted(from, &about, path)) {
            unlink(path);
            make_room(folder, (uint64_t)about.st_size);
            write_copy(from, folder, path);
        } else {
            utimensat(AT_FDCWD, path, NULL, 0);
        }
    }
    close(from);
    free(path);
}

void cache_keep(const struct image *image)
{
    char *folder = folder_name();

    for (; folder != NULL && image != NULL; image = image->next) {
        if (image->build_id_bytes >= ID_BYTES_MIN)
            keep(image, folder);
    }
    free(folder);
}
