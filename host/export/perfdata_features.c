/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Features of a perf.data file: a table of sections, then their contents. perf
 * itself needs none; others, such as hotspot, require them.
 */

#include "export/perfdata_features.h"

#include "base/log.h"
#include "trace/metadata.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_ROUND 64u /* texts fill multiples of it */

/* Numbers of features, bits of the header. */
enum {
    FEATURE_HOSTNAME = 3,
    FEATURE_RELEASE,
    FEATURE_VERSION,
    FEATURE_ARCH,
    FEATURE_CPU_COUNT,
    FEATURE_CPU_NAME,
    FEATURE_CPU_ID,
    FEATURE_COMMAND = 11,
    FEATURES_END
};

void perf_begin(struct perf_piece *piece)
{
    piece->stream = open_memstream(&piece->bytes, &piece->count);
    if (piece->stream == NULL)
        die("out of memory");
}

void perf_text(FILE *out, const char *text, size_t bytes)
{
    size_t length = strnlen(text, bytes - 1);

    fwrite(text, 1, length, out);
    while (length++ < bytes)
        putc('\0', out);
}

static void put_feature(FILE *out, const char *text)
{
    uint32_t bytes = (uint32_t)(strlen(text) / TEXT_ROUND + 1) * TEXT_ROUND;

    fwrite(&bytes, sizeof bytes, 1, out);
    perf_text(out, text, bytes);
}

static void put_feature_of(const struct model *model, int feature, FILE *out)
{
    uint32_t cpus[2] = {(uint32_t)model->cpu_count, (uint32_t)model->cpu_count};
    const uint32_t words = 2;
    const char *arch = metadata_arch(&model->hello);

    switch (feature) {
    case FEATURE_ARCH:
        put_feature(out, strcmp(arch, "i386") == 0 ? "i686" : arch);
        break;
    case FEATURE_CPU_COUNT:
        fwrite(cpus, sizeof cpus, 1, out);
        break;
    case FEATURE_COMMAND:
        fwrite(&words, sizeof words, 1, out);
        put_feature(out, "parasite");
        put_feature(out, "record");
        break;
    case FEATURE_CPU_ID: /* vendor, family, model and stepping are parsed */
        put_feature(out, "unknown,0,0,0");
        break;
    default: /* about the machine, which the guest does not report */
        put_feature(out, "unikernel");
        break;
    }
}

static bool has_feature(int feature)
{
    return feature <= FEATURE_CPU_ID || feature == FEATURE_COMMAND;
}

uint64_t perf_features(struct perf_piece *features, const struct model *model,
                       uint64_t offset)
{
    struct perf_piece texts = {0};
    uint64_t bits = 0;
    long at = 0;

    perf_begin(features);
    perf_begin(&texts);
    for (int i = FEATURE_HOSTNAME; i < FEATURES_END; ++i)
        offset += has_feature(i) ? sizeof(struct perf_section) : 0;
    for (int i = FEATURE_HOSTNAME; i < FEATURES_END; ++i) {
        struct perf_section section = {offset + (uint64_t)at, 0};

        if (!has_feature(i))
            continue;
        bits |= 1ull << i;
        put_feature_of(model, i, texts.stream);
        section.bytes = (uint64_t)(ftell(texts.stream) - at);
        at += (long)section.bytes;
        fwrite(&section, sizeof section, 1, features->stream);
    }
    fclose(texts.stream);
    fwrite(texts.bytes, 1, texts.count, features->stream);
    free(texts.bytes);
    fclose(features->stream);
    return bits;
}
