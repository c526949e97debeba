/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer's entry for the demangler. The first byte of the input chooses the
 * language and the second the size of the buffer; the rest is the name. Name,
 * buffer and workspace are allocated to the byte, so that the sanitizers see
 * every access outside of them. What must hold for each name:
 *
 *   - the answer ends with NUL and has the reported length;
 *   - the answer in a small buffer is a prefix of the one in a large buffer,
 *     and is reported as truncated;
 *   - UTF-8 in gives UTF-8 out, at every size;
 *   - no more steps than the budget;
 *   - a name of no known language is returned unchanged;
 *   - the same name gives the same answer, whatever the workspace held before.
 */

#include "fuzz.h"

#include <prof/demangle.h>
#include <stdio.h>

#define LARGE 65536u

static void must(int holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "violated: %s\n", what);
    abort();
}

/* A second opinion on UTF-8, on purpose not the demangler's own. */
static int is_utf8(const unsigned char *s, size_t n)
{
    for (size_t i = 0; i < n;) {
        uint32_t code = s[i++], least;
        int more = code < 0x80 ? 0 : code < 0xe0 ? 1 : code < 0xf0 ? 2 : 3;

        if (code >= 0x80 && (code < 0xc0 || code > 0xf7))
            return 0;
        if (more > 0)
            code &= 0x3fu >> more;
        least = more == 1 ? 0x80 : more == 2 ? 0x800 : more == 3 ? 0x10000 : 0;
        for (int k = 0; k < more; k++) {
            if (i == n || (s[i] & 0xc0) != 0x80)
                return 0;
            code = code << 6 | (s[i++] & 0x3f);
        }
        if (code < least || code > 0x10ffff ||
            (code >= 0xd800 && code < 0xe000))
            return 0;
    }
    return 1;
}

static struct prof_demangled ask(enum prof_language language, const char *name,
                                 char *out, size_t size, int fill)
{
    struct prof_demangle_work *work = malloc(sizeof *work);
    struct prof_demangled got;

    memset(work, fill, sizeof *work);
    got = prof_demangle_as(language, name, out, size, work);
    free(work);
    must(got.bytes < size && out[got.bytes] == 0, "a NUL at the end");
    must(strlen(out) == got.bytes, "the reported length");
    must(got.steps <= PROF_DEMANGLE_STEPS(strlen(name)), "the budget");
    return got;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static char large[LARGE];
    struct prof_demangled whole, cut;
    enum prof_language language;
    size_t size, length;
    char *name, *small;

    if (bytes < 3)
        return 0;
    language = (enum prof_language)(PROF_LANGUAGE_AUTO + data[0] % 5);
    size = 1 + data[1] * 2u;
    length = bytes - 2;
    name = malloc(length + 1);
    memcpy(name, data + 2, length);
    name[length] = 0;
    length = strlen(name);
    name = realloc(name, length + 1);
    small = malloc(size);

    whole = ask(language, name, large, sizeof large, 0);
    cut = ask(language, name, small, size, 0xa5);
    must(memcmp(large, small, cut.bytes) == 0, "a prefix");
    must(cut.bytes <= whole.bytes, "no longer than the whole");
    must(cut.bytes == whole.bytes || cut.truncated, "truncated");
    must(cut.bytes + 4 >= size || cut.bytes == whole.bytes, "as much as fits");
    must(cut.language == whole.language, "the same language");
    if (whole.language == PROF_LANGUAGE_NONE && length < LARGE)
        must(strcmp(name, large) == 0, "as it is");
    if (is_utf8((const unsigned char *)name, length)) {
        must(is_utf8((unsigned char *)large, whole.bytes), "UTF-8");
        must(is_utf8((unsigned char *)small, cut.bytes), "UTF-8, cut");
    }
    free(small);
    free(name);
    return 0;
}
