/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel, service, library, or user mode: by the folder of a function's source,
 * and by its address where the kernel has the upper half of all addresses. */

#include "flame/flame.h"

#include <string.h>

static const struct {
    const char *folder;
    enum flame_part part;
} known[] = {
    {"kernel", FLAME_PART_KERNEL},       {"arch", FLAME_PART_KERNEL},
    {"drivers", FLAME_PART_KERNEL},      {"boot", FLAME_PART_KERNEL},
    {"init", FLAME_PART_KERNEL},         {"mm", FLAME_PART_KERNEL},
    {"fs", FLAME_PART_KERNEL},           {"block", FLAME_PART_KERNEL},
    {"net", FLAME_PART_KERNEL},          {"services", FLAME_PART_SERVICE},
    {"service", FLAME_PART_SERVICE},     {"apps", FLAME_PART_SERVICE},
    {"app", FLAME_PART_SERVICE},         {"user", FLAME_PART_USER},
    {"profiler", FLAME_PART_PROFILER},   {"build/source", FLAME_PART_LIBRARY},
    {"newlib", FLAME_PART_LIBRARY},      {"libc", FLAME_PART_LIBRARY},
    {"lib", FLAME_PART_LIBRARY},         {"libs", FLAME_PART_LIBRARY},
    {"third_party", FLAME_PART_LIBRARY}, {"vendor", FLAME_PART_LIBRARY},
    {"external", FLAME_PART_LIBRARY},
};

const char *flame_part_name(enum flame_part part)
{
    static const char *const names[FLAME_PARTS] = {
        [FLAME_PART_UNKNOWN] = "",          [FLAME_PART_KERNEL] = "kernel",
        [FLAME_PART_SERVICE] = "service",   [FLAME_PART_LIBRARY] = "library",
        [FLAME_PART_PROFILER] = "profiler", [FLAME_PART_USER] = "user mode",
        [FLAME_PART_OTHER] = "other code",
    };

    return names[part];
}

/* Whether (path) begins with the whole folders (folder). */
static bool begins_with(const char *path, const char *folder)
{
    size_t bytes = strlen(folder);

    return strncmp(path, folder, bytes) == 0 &&
           (path[bytes] == '/' || path[bytes] == '\0');
}

enum flame_part flame_part_of_folder(const char *folder)
{
    if (*folder == '\0')
        return FLAME_PART_UNKNOWN;
    while (*folder != '\0') {
        for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i)
            if (begins_with(folder, known[i].folder))
                return known[i].part;
        folder += strcspn(folder, "/");
        folder += strspn(folder, "/");
    }
    return FLAME_PART_OTHER;
}

/* Where the upper half of addresses begins, if one of the images is there;
 * else 0. */
static uint64_t upper_half(const struct names *names)
{
    for (const struct image *one = names->image; one != NULL; one = one->next) {
        /* 32-bit kernels have the upper two GiB, or one */
        uint64_t half = one->begin > UINT32_MAX
                            ? (uint64_t)1 << 63
                            : one->begin & ~(((uint64_t)1 << 30) - 1);

        if (half >= (uint64_t)1 << 31 && one->begin >= half)
            return half;
    }
    return 0;
}

enum flame_part flame_part_at(const struct names *names, const char *name,
                              uint64_t address)
{
    uint64_t half = upper_half(names);

    if (strncmp(name, "[user mode", strlen("[user mode")) == 0)
        return FLAME_PART_USER;
    if (*name == '[' || half == 0)
        return FLAME_PART_UNKNOWN;
    return address < half ? FLAME_PART_USER : FLAME_PART_KERNEL;
}
