/* SPDX-License-Identifier: Apache-2.0 */
/* Only the trace of the boot that sends at present is open, so that a guest
 * that reboots again and again does not use up the process's file
 * descriptors. */

#include "trace/boots.h"

#include "base/log.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A new boot, or NULL with the reason in (why), of PLACE_WHY_MAX bytes. */
static struct boot *add_boot(struct boots *boots, const char *path, char *why)
{
    struct boot *boot = xreallocarray(NULL, 1, sizeof *boot);

    *boot = (struct boot){0};
    boot->writer = (struct trace_writer){
        .image = boots->image,
        .symbols = boots->symbols,
        .symbols_bytes = boots->symbols_bytes,
    };
    if (!trace_create(&boot->writer, path, why)) {
        free(boot->writer.path);
        free(boot);
        return NULL;
    }
    VECTOR_ADD(boots->list, boots->count, boot);
    return boot;
}

void boots_begin(struct boots *boots, const char *path)
{
    char why[PLACE_WHY_MAX];

    boots->now = add_boot(boots, path, why);
    if (boots->now == NULL)
        die("%s", why);
}

/* The first folder that cannot be made ends the list: numbers have no gap. */
static struct boot *add_numbered(struct boots *boots)
{
    const char *first = boots->list[0]->writer.path;
    char *path, why[PLACE_WHY_MAX];
    struct boot *boot;

    if (boots->count == BOOTS_MAX || boots->left_out > 0)
        return NULL;
    path = xreallocarray(NULL, strlen(first) + 24, 1);
    sprintf(path, "%s-%zu", first, boots->count + 1);
    boot = add_boot(boots, path, why);
    if (boot == NULL)
        log_error("%s", why);
    free(path);
    return boot;
}

static bool is_from(const struct boot *boot, const struct packet *packet)
{
    return boot->writer.index.count == 0 ||
           memcmp(boot->writer.index.uuid, packet->uuid,
                  sizeof boot->writer.index.uuid) == 0;
}

/* The boot of (packet), usually the present one; NULL: no room for it. */
static struct boot *boot_of(struct boots *boots, const struct packet *packet)
{
    struct boot *found = NULL;

    if (is_from(boots->now, packet))
        return boots->now;
    for (size_t i = 0; i < boots->count && found == NULL; ++i) {
        if (is_from(boots->list[i], packet))
            found = boots->list[i];
    }
    if (found == NULL)
        found = add_numbered(boots);
    if (found != NULL)
        trace_suspend(&boots->now->writer);
    return found;
}

struct boot *boots_take(struct boots *boots, const struct packet *packet)
{
    struct boot *boot = boot_of(boots, packet);

    if (boot == NULL) {
        ++boots->left_out;
        return NULL;
    }
    boots->now = boot;
    if (!trace_put(&boot->writer, packet))
        return NULL;
    model_take(&boot->model, packet);
    return boot;
}

void boots_end(struct boots *boots)
{
    for (size_t i = 0; i < boots->count; ++i)
        trace_finish(&boots->list[i]->writer, &boots->list[i]->model);
}
