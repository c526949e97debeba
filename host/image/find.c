/* SPDX-License-Identifier: Apache-2.0 */
/* From a trace to the symbols of what was profiled, and the cache of images. */

#define _GNU_SOURCE /* mkostemp() */

#include "image/find.h"

#include "base/bytes.h"
#include "base/log.h"
#include "base/memory.h"
#include "image/dwarf.h"
#include "image/stored.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the cache
 *
 * Copies of images that were recorded, by their build-ids, so that old traces
 * can be read, and annotated, when the images have been built anew:
 *
 *     $PARASITE_CACHE, else $XDG_CACHE_HOME/parasite, else ~/.cache/parasite
 *
 * A PARASITE_CACHE that is empty or "off" is no cache. It has at most
 * $PARASITE_CACHE_MB MiB (CACHE_MB); what was not used for longest goes first.
 * Images without a build-id, or larger than that, are not kept. A cache that
 * cannot be written is no error. A file is written under another name and
 * renamed, so that processes at the same time never see half of one; its time
 * of modification is when it was used last.
 */

#define CACHE_MB 1024
#define ID_BYTES_MIN 4u /* a shorter one is no identity */
#define PIECE_BYTES 65536u
#define MIB (1u << 20)

static char *path_in(const char *folder, const char *name)
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
        return path_in(all, "parasite");
    if (home == NULL || *home != '/')
        return NULL;
    path = path_in(home, ".cache");
    below = path_in(path, "parasite");
    free(path);
    return below;
}

static uint64_t cache_bytes_max(void)
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

/* The path of the image with this build-id, to be freed; NULL if there is
 * none. What is in it must be compared with the build-id. */
static char *cache_find(const uint8_t *build_id, size_t bytes)
{
    char *folder = bytes >= ID_BYTES_MIN && bytes <= 32 ? folder_name() : NULL;
    char name[65], *path;

    if (folder == NULL)
        return NULL;
    bytes_hex(build_id, bytes, name);
    path = path_in(folder, name);
    free(folder);
    if (access(path, R_OK) == 0) {
        utimensat(AT_FDCWD, path, NULL, 0);
        return path;
    }
    free(path);
    return NULL;
}

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
    char *made = path_in(folder, ".new-XXXXXX");
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

static struct kept *list_kept(const char *folder, size_t *count,
                              uint64_t *bytes)
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
        files[(*count)++] =
            (struct kept){path_in(folder, one->d_name), (uint64_t)about.st_size,
                          about.st_mtim};
        *bytes += (uint64_t)about.st_size;
    }
    if (all != NULL)
        closedir(all);
    if (*count > 0)
        qsort(files, *count, sizeof *files, by_use);
    return files;
}

/* Removes what was not used for longest until (more) bytes have room. */
static void make_room_in_cache(const char *folder, uint64_t more)
{
    size_t count;
    uint64_t bytes, most = cache_bytes_max();
    struct kept *files = list_kept(folder, &count, &bytes);

    for (size_t i = 0; i < count; ++i) {
        if (bytes + more > most && unlink(files[i].path) == 0) {
            log_verbose("%s: removed, the cache is full", files[i].path);
            bytes -= files[i].bytes;
        }
        free(files[i].path);
    }
    free(files);
}

static void keep_one(const struct image *image, const char *folder)
{
    const char *file = image_file(image);
    int from = file != NULL ? open(file, O_RDONLY | O_CLOEXEC) : -1;
    struct stat about;
    char name[65], *path;

    if (from < 0)
        return;
    bytes_hex(image->build_id, image->build_id_bytes, name);
    path = path_in(folder, name);
    if (fstat(from, &about) == 0 && S_ISREG(about.st_mode) &&
        (uint64_t)about.st_size <= cache_bytes_max() && make_folder(folder)) {
        if (is_wanted(from, &about, path)) {
            unlink(path);
            make_room_in_cache(folder, (uint64_t)about.st_size);
            write_copy(from, folder, path);
        } else {
            utimensat(AT_FDCWD, path, NULL, 0);
        }
    }
    close(from);
    free(path);
}

/* Copies (image) and all that follow it. */
static void cache_keep(const struct image *image)
{
    char *folder = folder_name();

    for (; folder != NULL && image != NULL; image = image->next) {
        if (image->build_id_bytes >= ID_BYTES_MIN)
            keep_one(image, folder);
    }
    free(folder);
}

/* ---- finding */

const char *image_from_text(enum image_from from)
{
    static const char *const texts[] = {"none", "option", "image", "cache",
                                        "trace"};

    return texts[from];
}

static bool same_functions(const struct image *one, const struct image *other)
{
    if (one->count != other->count)
        return false;
    for (size_t i = 0; i < one->count; ++i) {
        if (one->functions[i].start != other->functions[i].start ||
            strcmp(one->functions[i].name, other->functions[i].name) != 0)
            return false;
    }
    return true;
}

/* Whether (image) and all that follow it are those in the trace. */
static bool are_stored(const struct image *image, const struct image *stored)
{
    while (image != NULL && stored != NULL) {
        bool known = image->build_id_bytes > 0 && stored->build_id_bytes > 0;

        if (!image_is_of(image, stored->build_id, stored->build_id_bytes) ||
            (!known && !same_functions(image, stored)))
            return false;
        image = image->next;
        stored = stored->next;
    }
    return image == NULL && stored == NULL;
}

struct wanted {
    const struct event_hello *hello;
    struct image stored; /* empty = there is none */
    bool has_stored;
};

static bool is_right(const struct wanted *wanted, const struct image *image)
{
    return image_is_of(image, wanted->hello->build_id,
                       wanted->hello->build_id_bytes) &&
           (!wanted->has_stored || are_stored(image, &wanted->stored));
}

/* Opens (paths) if they are what is looked for. */
static bool open_right(const struct wanted *wanted, struct image *image,
                       const char *paths)
{
    char why[IMAGE_WHY_MAX];

    if (!image_is_there(paths) || !image_try(image, paths, why))
        return false;
    if (is_right(wanted, image))
        return true;
    image_close(image);
    return false;
}

/* The paths of all images in the cache, to be freed; NULL if one is not. One
 * without a build-id may still be where it was. */
static char *cached_paths(const struct wanted *wanted)
{
    const struct image *at = &wanted->stored;
    char *paths = NULL;

    if (!wanted->has_stored)
        return cache_find(wanted->hello->build_id,
                          wanted->hello->build_id_bytes);
    for (; at != NULL; at = at->next) {
        char *one = at->build_id_bytes > 0
                        ? cache_find(at->build_id, at->build_id_bytes)
                        : xstrdup(at->path);
        char *longer = one != NULL ? image_paths_add(paths, one) : NULL;

        free(one);
        free(paths);
        paths = longer;
        if (paths == NULL)
            return NULL;
    }
    return paths;
}

static bool open_cached(const struct wanted *wanted, struct image *image)
{
    char *paths = cached_paths(wanted);
    bool fine = paths != NULL && open_right(wanted, image, paths);

    free(paths);
    return fine;
}

static void read_stored(struct wanted *wanted, const struct trace *trace)
{
    if (trace->symbols == NULL)
        return;
    wanted->has_stored =
        stored_read(&wanted->stored, trace->symbols, trace->symbols_bytes);
    if (!wanted->has_stored)
        log_info("%s: its symbols are damaged or of another version, and not "
                 "used",
                 trace->path);
    else if (!image_is_of(&wanted->stored, wanted->hello->build_id,
                          wanted->hello->build_id_bytes)) {
        image_close(&wanted->stored);
        wanted->has_stored = false;
    }
}

/* There is no image of the trace but the one at its path, which is another. */
static bool open_wrong(struct image *image, const char *paths,
                       const struct event_hello *hello, bool force)
{
    char why[IMAGE_WHY_MAX];

    if (paths == NULL || !image_is_there(paths) ||
        !image_try(image, paths, why))
        return false;
    if (image_fits(image, hello, force))
        return true;
    image_close(image);
    return false;
}

enum image_from image_find(struct image *image, const struct trace *trace,
                           const struct event_hello *hello, const char *given,
                           bool force)
{
    struct wanted wanted = {.hello = hello};
    enum image_from from = IMAGE_FROM_NOWHERE;

    *image = (struct image){0};
    if (given != NULL) {
        image_open(image, given);
        if (!image_fits(image, hello, force))
            exit(STATUS_DATA);
        return IMAGE_FROM_OPTION;
    }
    read_stored(&wanted, trace);
    if (trace->image != NULL && open_right(&wanted, image, trace->image))
        from = IMAGE_FROM_PATH;
    else if (open_cached(&wanted, image))
        from = IMAGE_FROM_CACHE;
    else if (wanted.has_stored)
        from = IMAGE_FROM_TRACE;
    else if (open_wrong(image, trace->image, hello, force))
        from = IMAGE_FROM_PATH;
    if (from == IMAGE_FROM_TRACE)
        *image = wanted.stored;
    else if (wanted.has_stored)
        image_close(&wanted.stored);
    return from;
}

enum image_from image_find_cached(struct image *image,
                                  const struct event_hello *hello)
{
    struct wanted wanted = {.hello = hello};

    *image = (struct image){0};
    return open_cached(&wanted, image) ? IMAGE_FROM_CACHE : IMAGE_FROM_NOWHERE;
}

uint8_t *image_remember(struct image *image, size_t *bytes)
{
    bool known = false;

    cache_keep(image);
    for (struct image *at = image; at != NULL; at = at->next) {
        known = known || at->count > 0;
        dwarf_read_lines(at);
    }
    return known ? stored_make(image, bytes) : NULL;
}
