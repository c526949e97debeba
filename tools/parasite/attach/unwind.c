/* SPDX-License-Identifier: Apache-2.0 */
/* From a stopped CPU's registers to its callers, a frame at a time. */

#include "attach/unwind.h"

#include "attach/cfi.h"
#include "base/memory.h"
#include "image/segment.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FRAME_BYTES_MAX (1u << 20)
#define HLT 0xf4
#define RET 0xc3
#define RET_BYTES 0xc2 /* and takes arguments off the stack */
#define PUSH_FP 0x55
#define ENDBR_BYTES 4u
#define CALL 0xe8
#define CALL_BYTES 5u /* with the distance to its target */
#define SEARCHED_WORDS 32

struct unwinder {
    const struct image *image;
    struct cfi *cfi;
    struct segment *segments;
    size_t segment_count;
    const uint8_t *file; /* mapped, NULL = not there */
    size_t file_bytes;
    uint64_t text_begin;
    uint64_t text_end;
};

/* Where a walk is. */
struct place {
    uint64_t ip;
    uint64_t sp;
    uint64_t fp;
    unsigned word; /* bytes */
    bool innermost;
};

enum step {
    STEP_UP,
    STEP_OUTERMOST,
    STEP_UNALIGNED,
    STEP_OUTSIDE,
    STEP_FALLING,
    STEP_UNREADABLE,
};

struct walk {
    struct unwinder *unwinder;
    const struct unwind_memory *memory;
    struct unwind_stack *stack;
    struct place at;
};

static void map_file(struct unwinder *unwinder, const char *path)
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
            unwinder->file = bytes;
            unwinder->file_bytes = (size_t)about.st_size;
        }
    }
    close(file);
}

struct unwinder *unwind_open(const struct image *image)
{
    struct unwinder *unwinder = xreallocarray(NULL, 1, sizeof *unwinder);

    *unwinder = (struct unwinder){.image = image};
    if (image == NULL)
        return unwinder;
    unwinder->cfi = cfi_open(image->path);
    unwinder->segments = segments_read(image->path, &unwinder->segment_count);
    map_file(unwinder, image->path);
    for (size_t i = 0; i < unwinder->segment_count; ++i) {
        const struct segment *segment = &unwinder->segments[i];

        if (i == 0 || segment->address < unwinder->text_begin)
            unwinder->text_begin = segment->address;
        if (segment->address + segment->bytes > unwinder->text_end)
            unwinder->text_end = segment->address + segment->bytes;
    }
    return unwinder;
}

/* The byte of code at (address), -1 if it is not known. */
static int code(const struct unwinder *unwinder, uint64_t address)
{
    for (size_t i = 0; i < unwinder->segment_count; ++i) {
        const struct segment *segment = &unwinder->segments[i];
        uint64_t offset = address - segment->address;

        if (address >= segment->address && offset < segment->bytes &&
            segment->offset + offset < unwinder->file_bytes)
            return unwinder->file[segment->offset + offset];
    }
    return -1;
}

static bool is_code(const struct unwinder *unwinder, uint64_t address)
{
    return unwinder->text_end == 0 ||
           (address >= unwinder->text_begin && address < unwinder->text_end);
}

static bool read_word(struct walk *walk, uint64_t address, uint64_t *value)
{
    struct unwind_stack *stack = walk->stack;
    unsigned word = walk->at.word;

    if (word == 4)
        address &= UINT32_MAX;
    if (!walk->memory->word(walk->memory->owner, address, word, value))
        return false;
    if (stack->highest == 0 || address < stack->lowest)
        stack->lowest = address;
    if (address + word > stack->highest)
        stack->highest = address + word;
    return true;
}

/* Whether a frame may end at (top), which is above what was read. */
static enum step check_top(const struct place *at, uint64_t top)
{
    if (top % at->word != 0)
        return STEP_UNALIGNED;
    if (top <= at->sp)
        return STEP_FALLING;
    return top - at->sp > FRAME_BYTES_MAX ? STEP_OUTSIDE : STEP_UP;
}

/* One step by a rule; (*known) is false if there is none. */
static enum step step_by_rule(struct walk *walk, bool *known)
{
    struct place *at = &walk->at;
    struct cfi_rule rule = {0};
    uint64_t top, ip, fp = at->fp;
    enum step step;

    if (walk->unwinder->cfi != NULL && is_code(walk->unwinder, at->ip))
        rule =
            cfi_find(walk->unwinder->cfi, at->innermost ? at->ip : at->ip - 1);
    *known = rule.kind != CFI_UNKNOWN;
    if (rule.kind == CFI_OUTERMOST || !*known)
        return STEP_OUTERMOST;
    top = (rule.kind == CFI_SP ? at->sp : at->fp) + (uint64_t)rule.base;
    step = check_top(at, top);
    if (step != STEP_UP)
        return step;
    if (!read_word(walk, top + (uint64_t)rule.address, &ip) ||
        (rule.saves_fp && !read_word(walk, top + (uint64_t)rule.fp, &fp)))
        return STEP_UNREADABLE;
    at->ip = ip;
    at->fp = fp;
    at->sp = top;
    return STEP_UP;
}

/* Whether the instruction before (address) calls (function). */
static bool is_call_of(const struct unwinder *unwinder, uint64_t address,
                       uint64_t function)
{
    uint32_t distance = 0;

    if (code(unwinder, address - CALL_BYTES) != CALL)
        return false;
    for (unsigned i = 1; i < CALL_BYTES; ++i)
        distance |= (uint32_t)code(unwinder, address - i)
                    << (8 * (CALL_BYTES - 1 - i));
    return (uint32_t)(address + distance) == (uint32_t)function;
}

/* A function without a frame: the first word from the stack pointer on that
 * was pushed by a call of it, unless that is above the frame pointer. -1 if
 * there is none. */
static int search_words(struct walk *walk, uint64_t function)
{
    const struct place *at = &walk->at;

    for (int i = 0; i < SEARCHED_WORDS; ++i) {
        uint64_t place = at->sp + (unsigned)i * at->word, value;

        if (place == at->fp || !read_word(walk, place, &value))
            return -1;
        if (is_call_of(walk->unwinder, value, function))
            return i;
    }
    return -1;
}

/* Words from the stack pointer to the return address where the frame is not
 * set up; -1 if it seems to be. */
static int words_above(struct walk *walk)
{
    const struct unwinder *unwinder = walk->unwinder;
    const struct image_symbol *function;
    uint64_t ip = walk->at.ip;
    int byte = code(unwinder, ip);

    if (byte == RET || byte == RET_BYTES)
        return 0;
    function =
        unwinder->image != NULL ? image_function(unwinder->image, ip) : NULL;
    if (function == NULL)
        return -1;
    if (ip - function->start <= ENDBR_BYTES + 1) {
        if (ip == function->start || byte == PUSH_FP)
            return 0;
        if (code(unwinder, ip - 1) == PUSH_FP)
            return 1;
    }
    if (code(unwinder, function->start) == PUSH_FP ||
        code(unwinder, function->start + ENDBR_BYTES) == PUSH_FP)
        return -1;
    return search_words(walk, function->start);
}

static enum step step_by_code(struct walk *walk, bool *known)
{
    struct place *at = &walk->at;
    int words = at->innermost ? words_above(walk) : -1;
    uint64_t ip;

    *known = words >= 0;
    if (!*known)
        return STEP_OUTERMOST;
    if (!read_word(walk, at->sp + (unsigned)words * at->word, &ip))
        return STEP_UNREADABLE;
    at->ip = ip;
    at->sp += ((unsigned)words + 1) * at->word;
    return STEP_UP;
}

static enum step step_by_frame(struct walk *walk)
{
    struct place *at = &walk->at;
    uint64_t ip, fp;
    enum step step;

    if (at->fp == 0)
        return STEP_OUTERMOST;
    if (at->fp < at->sp)
        return at->innermost ? STEP_OUTSIDE : STEP_FALLING;
    step = check_top(at, at->fp + 2 * at->word);
    if (step != STEP_UP)
        return step;
    if (!read_word(walk, at->fp, &fp) ||
        !read_word(walk, at->fp + at->word, &ip))
        return STEP_UNREADABLE;
    at->sp = at->fp + 2 * at->word;
    at->ip = ip;
    at->fp = fp;
    return STEP_UP;
}

static enum step step_up(struct walk *walk)
{
    bool known;
    enum step step = step_by_rule(walk, &known);

    if (!known)
        step = step_by_code(walk, &known);
    if (!known)
        step = step_by_frame(walk);
    walk->at.innermost = false;
    return step;
}

static const enum prof_walk_stop reasons[] = {
    [STEP_UNALIGNED] = PROF_WALK_UNALIGNED,
    [STEP_OUTSIDE] = PROF_WALK_OUTSIDE,
    [STEP_FALLING] = PROF_WALK_FALLING,
    [STEP_UNREADABLE] = PROF_WALK_OUTSIDE,
};

void unwind_walk(struct unwinder *unwinder, const struct registers *registers,
                 const struct unwind_memory *memory, unsigned depth,
                 struct unwind_stack *stack)
{
    struct walk walk = {unwinder,
                        memory,
                        stack,
                        {registers->ip, registers->sp, registers->fp,
                         registers->mode == MODE_64 ? 8 : 4, true}};

    stack->count = 1;
    stack->addresses[0] = registers->ip;
    stack->lowest = stack->highest = 0;
    stack->stopped = 0;
    if (registers->mode == MODE_REAL)
        return;
    for (;;) {
        enum step step = step_up(&walk);

        if (step != STEP_UP) {
            stack->stopped = reasons[step];
            return;
        }
        if (walk.at.ip == 0)
            return;
        if (!is_code(unwinder, walk.at.ip)) {
            stack->stopped = PROF_WALK_NOT_CODE;
            return;
        }
        if (stack->count > depth || stack->count == UNWIND_FRAMES_MAX) {
            stack->stopped = PROF_WALK_DEPTH;
            return;
        }
        stack->addresses[stack->count++] = walk.at.ip;
    }
}

bool unwind_after_halt(struct unwinder *unwinder, uint64_t address)
{
    return code(unwinder, address - 1) == HLT;
}

void unwind_text(const struct unwinder *unwinder, uint64_t *begin,
                 uint64_t *end)
{
    *begin = unwinder->text_begin;
    *end = unwinder->text_end;
}

void unwind_close(struct unwinder *unwinder)
{
    cfi_close(unwinder->cfi);
    free(unwinder->segments);
    if (unwinder->file != NULL)
        munmap((void *)unwinder->file, unwinder->file_bytes);
    free(unwinder);
}
