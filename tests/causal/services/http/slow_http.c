/* SPDX-License-Identifier: Apache-2.0 */
/* The web server reads a request and looks for its file in an archive. */

#include "causal/services/slow.h"

#include <kernel/http.h>

#define PARSE_CYCLES 14000u
#define LOOKUP_CYCLES 20000u

struct http_file;
int __real_http_parse(struct http_request *request, const char *bytes,
                      size_t count);
int __wrap_http_parse(struct http_request *request, const char *bytes,
                      size_t count);
bool __real_http_files_find(const void *archive, size_t bytes, const char *name,
                            struct http_file *file);
bool __wrap_http_files_find(const void *archive, size_t bytes, const char *name,
                            struct http_file *file);
void __real_http_send_prepared(struct http_client *client,
                               const struct http_request *request,
                               void (*prepare)(const char *path,
                                               struct http_page *page));
void __wrap_http_send_prepared(struct http_client *client,
                               const struct http_request *request,
                               void (*prepare)(const char *path,
                                               struct http_page *page));

__attribute__((noinline)) static int slow_parse(struct http_request *request,
                                                const char *bytes, size_t count)
{
    uint64_t since = slow_now();
    int result = __real_http_parse(request, bytes, count);

    if (result != 0) /* else there is no whole request yet */
        slow_done(SLOW_PARSE, since, PARSE_CYCLES);
    return result;
}

int __wrap_http_parse(struct http_request *request, const char *bytes,
                      size_t count)
{
    return slow_parse(request, bytes, count);
}

__attribute__((noinline)) static bool slow_lookup(const void *archive,
                                                  size_t bytes,
                                                  const char *name,
                                                  struct http_file *file)
{
    uint64_t since = slow_now();
    bool found = __real_http_files_find(archive, bytes, name, file);

    slow_done(SLOW_LOOKUP, since, LOOKUP_CYCLES);
    return found;
}

bool __wrap_http_files_find(const void *archive, size_t bytes, const char *name,
                            struct http_file *file)
{
    return slow_lookup(archive, bytes, name, file);
}

void __wrap_http_send_prepared(struct http_client *client,
                               const struct http_request *request,
                               void (*prepare)(const char *path,
                                               struct http_page *page))
{
    __real_http_send_prepared(client, request, prepare);
    slow_visit();
}
