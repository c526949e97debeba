/* SPDX-License-Identifier: Apache-2.0 */
/* The instructions in an image's file. */

#include "image/code.h"

#include "base/checked.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE 4096u
#define HEAD_BYTES 24u
#define LOOKED_AT 256u /* functions */
#define PUSH_FP 0x55

static void map_file(struct code *code, const char *path)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat about;
    void *bytes;

    if (file < 0)
        return;
    if (fstat(file, &about) == 0 && about.st_size > 0) {
        bytes =
            mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
        if (bytes != MAP_FAILED) {
            code->file = bytes;
            code->file_bytes = (size_t)about.st_size;
        }
    }
    close(file);
}

int code_byte(const struct code *code, uint64_t address)
{
    for (size_t i = 0; i < code->segment_count; ++i) {
        const struct segment *segment = &code->segments[i];
        uint64_t offset = address - segment->address;

        if (address >= segment->address && offset < segment->bytes &&
            checked_add(segment->offset, offset) < code->file_bytes)
            return code->file[segment->offset + offset];
    }
    return -1;
}

size_t code_same(const struct code *code, uint64_t address,
                 const uint8_t *bytes, size_t count)
{
    size_t same = 0;

    for (size_t i = 0; i < count; ++i)
        same += code_byte(code, address + i) == bytes[i];
    return same;
}

/* "push %rbp; mov %rsp, %rbp" at (bytes), with whatever in between. With
 * another REX prefix (REX.W alone is 0x48) it moves another register. */
static bool is_prologue(const uint8_t *bytes, size_t count)
{
    if (bytes[0] != PUSH_FP)
        return false;
    for (size_t i = 1; i + 1 < count; ++i) {
        bool moves = (bytes[i] == 0x89 && bytes[i + 1] == 0xe5) ||
                     (bytes[i] == 0x8b && bytes[i + 1] == 0xec);

        if (moves && ((bytes[i - 1] & 0xf0) != 0x40 || bytes[i - 1] == 0x48))
            return true;
    }
    return false;
}

bool code_sets_frame(const uint8_t *bytes, size_t count)
{
    /* behind nothing, ENDBR, a place for a tracer's call, both */
    static const unsigned begins[] = {0, 4, 5, 9};

    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; ++i) {
        if (begins[i] + 3 <= count &&
            is_prologue(bytes + begins[i], count - begins[i]))
            return true;
    }
    return false;
}

static bool keeps_frames(const struct code *code)
{
    const struct image *image = code->image;
    size_t step = image->count / LOOKED_AT + 1, looked = 0, with = 0;

    for (size_t i = 0; i < image->count; i += step) {
        uint64_t start = image->functions[i].start - image->moved;
        uint8_t head[HEAD_BYTES];

        for (size_t k = 0; k < sizeof head; ++k)
            head[k] = (uint8_t)code_byte(code, start + k);
        ++looked;
        with += code_sets_frame(head, sizeof head);
    }
    return 2 * with >= looked;
}

void code_open(struct code *code, const struct image *image)
{
    *code = (struct code){.image = image, .align = PAGE};
    if (image_file(image) == NULL)
        return;
    code->cfi = cfi_open(image->path);
    code->segments = segments_read(image->path, &code->segment_count);
    map_file(code, image->path);
    for (size_t i = 0; i < code->segment_count; ++i) {
        uint64_t align = code->segments[i].align;

        if (align > code->align && (align & (align - 1)) == 0)
            code->align = align;
    }
    code->keeps_frames = keeps_frames(code);
}

void code_close(struct code *code)
{
    cfi_close(code->cfi);
    free(code->segments);
    if (code->file != NULL)
        munmap((void *)code->file, code->file_bytes);
}
