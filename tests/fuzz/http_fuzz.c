/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The readers of requests, archives and folded stacks on whatever comes. The
 * first byte says which: the head of a request, a tar archive, or a profile of
 * another machine. What is taken must be the same however much of it has come,
 * and within what was given.
 */

#include "fuzz.h"

#include "../../services/http/files.h"
#include "../../services/watch/folded.h"

#include <kernel/http.h>

static int parse(struct http_request *request, const uint8_t *data, size_t size)
{
    char *copy = malloc(size != 0 ? size : 1);
    int result;

    memcpy(copy, data, size);
    result = http_parse(request, copy, size);
    free(copy);
    return result;
}

static void fuzz_request(const uint8_t *data, size_t size)
{
    static struct http_request request, again;
    char value[16];
    int result = parse(&request, data, size);

    require(result <= (int)size && result <= (int)HTTP_HEAD_MAX);
    if (result <= 0) {
        require(result == 0 || result == -400 || result == -414 ||
                result == -431 || result == -505);
        require(result != 0 || size < HTTP_HEAD_MAX);
        return;
    }
    require(request.path[0] == '/');
    require(strlen(request.query) <= HTTP_TARGET_MAX);
    (void)http_query(request.query, "seconds", value, sizeof value);
    require(!http_same(request.bearer, "") || request.bearer[0] == '\0');
    require(parse(&again, data, (size_t)result) == result);
    require(strcmp(again.path, request.path) == 0);
    require(parse(&again, data, (size_t)result - 1) <= 0);
}

static void fuzz_archive(const uint8_t *data, size_t size)
{
    struct http_file file;
    size_t at = 0, sum = 0;

    while (http_files_next(data, size, &at, &file)) {
        require(file.count <= size && strlen(file.name) < HTTP_NAME_MAX);
        for (size_t i = 0; i < file.count; i++)
            sum += (unsigned char)file.bytes[i];
        (void)http_files_type(file.name);
    }
    require(sum <= size * UINT8_MAX);
}

static void fuzz_folded(const uint8_t *data, size_t size)
{
    char *copy = malloc(size + 1);
    struct folded folded;
    uint64_t self = 0;

    memcpy(copy, data, size);
    require(folded_read(&folded, copy, size));
    for (size_t i = 0; i < folded.count; i++) {
        self += folded.rows[i].self;
        require(folded.rows[i].self <= folded.rows[i].total);
        require(folded.rows[i].total <= folded.samples);
        require(strchr(folded.rows[i].name, ';') == NULL);
        require(i == 0 || folded.rows[i].self <= folded.rows[i - 1].self);
    }
    require(self + folded.idle <= folded.samples);
    folded_free(&folded);
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    if (data[0] == 't')
        fuzz_archive(data + 1, size - 1);
    else if (data[0] == 'f')
        fuzz_folded(data + 1, size - 1);
    else
        fuzz_request(data + 1, size - 1);
    return 0;
}
