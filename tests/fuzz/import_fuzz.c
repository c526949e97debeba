/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Feeds anything to the readers of other recorders' traces. What they make of
 * it must be a stream as a guest would send it: packets without a gap, whole
 * events, time that never goes back.
 *
 * If the first byte of the input is odd, the magic numbers that are missing at
 * its beginning are put there.
 */

#include "fuzz.h"

#include "import/import.h"
#include "tasks/tasks.h"

static void take(void *tasks, const struct packet *packet)
{
    tasks_take(tasks, packet);
}

static void look_at(const struct imported *imported)
{
    static const enum tasks_problem_kind impossible[] = {
        TASKS_NOT_READ,     TASKS_TIME_BACK,   TASKS_TIME_BEYOND,
        TASKS_NO_NAME,      TASKS_ENDED_TWICE, TASKS_CREATED_TWICE,
        TASKS_NEVER_CREATED};
    struct tasks tasks = {0};
    struct packet_sink sink = {take, &tasks};
    uint64_t garbage = 0;

    packet_scan(imported->bytes, imported->count, true, &sink, &garbage);
    require(garbage == 0);
    tasks_finish(&tasks);
    for (size_t i = 0; i < sizeof impossible / sizeof impossible[0]; ++i)
        require(tasks.problem_counts[impossible[i]] == 0);
    for (uint32_t i = 0; i < tasks.loss_count; ++i)
        require(tasks.losses[i].packets == 0);
    tasks_free(&tasks);
}

static void mend(uint8_t *bytes, size_t count, int is_fuchsia)
{
    static const uint8_t fuchsia[] = {0x10, 0, 4, 0x46, 0x78, 0x54, 0x16, 0};
    static const uint8_t mirage[] = {0xc1, 0x1f, 0xfc, 0xc1, 0x05, 0x88, 0x3b,
                                     0x8d, 0x52, 0x1a, 0x48, 0x7b, 0xb3, 0x97,
                                     0x45, 0x6a, 0xb1, 0x50, 0x68, 0x0c};

    if (is_fuchsia && count >= sizeof fuchsia)
        memcpy(bytes, fuchsia, sizeof fuchsia);
    else if (!is_fuchsia && count >= sizeof mirage)
        memcpy(bytes, mirage, sizeof mirage);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct imported imported;
    enum import_format format;
    uint8_t *copy;

    if (bytes < 2)
        return 0;
    copy = malloc(bytes - 1);
    memcpy(copy, data + 1, bytes - 1);
    if ((data[0] & 1) != 0)
        mend(copy, bytes - 1, (data[0] & 2) != 0);
    format = import_format_of(copy, bytes - 1);
    if (format != IMPORT_NONE) {
        import_read(format, copy, bytes - 1, &imported);
        require(imported.unread <= bytes - 1);
        look_at(&imported);
        free(imported.bytes);
    }
    free(copy);
    return 0;
}
