/* SPDX-License-Identifier: Apache-2.0 */
/* One connection, which is kept, and one request a profile. */

#define _GNU_SOURCE /* open_memstream() */

#include "push/post.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_MAX 256
#define SECONDS 30L

struct push {
    enum push_form form;
    char *url;
    CURL *curl;
    struct curl_slist *headers;
    char answer[ANSWER_MAX]; /* its beginning */
    size_t answered;
};

static const struct {
    const char *prefix, *path;
} forms[] = {
    [PUSH_OTLP] = {"otlp:", "/v1development/profiles"},
    [PUSH_PYROSCOPE] = {"pyroscope:", "/push.v1.PusherService/Push"},
};

static size_t take_answer(char *bytes, size_t size, size_t count, void *owner)
{
    struct push *push = owner;
    size_t room = ANSWER_MAX - 1 - push->answered;
    size_t taken = count < room ? count : room;

    (void)size; /* 1 */
    memcpy(push->answer + push->answered, bytes, taken);
    push->answered += taken;
    return count;
}

/* The address, with the form's path if it has none; to be freed. */
static char *url_of(const char *address, const char *path)
{
    const char *host = strstr(address, "://");
    const char *slash = host != NULL ? strchr(host + 3, '/') : NULL;
    size_t bytes = strlen(address) + strlen(path) + 1;
    char *url = xreallocarray(NULL, bytes, 1);

    if (slash != NULL && slash[1] == '\0')
        snprintf(url, bytes, "%.*s%s", (int)(slash - address), address, path);
    else
        snprintf(url, bytes, "%s%s", address, slash != NULL ? "" : path);
    return url;
}

static bool is_http(const char *address)
{
    return (strncmp(address, "http://", 7) == 0 && address[7] != '\0' &&
            address[7] != '/') ||
           (strncmp(address, "https://", 8) == 0 && address[8] != '\0' &&
            address[8] != '/');
}

struct push *push_open(const char *target, char *why)
{
    struct push *push;

    for (unsigned i = 0; i < sizeof forms / sizeof forms[0]; ++i) {
        size_t prefix = strlen(forms[i].prefix);

        if (strncmp(target, forms[i].prefix, prefix) != 0 ||
            !is_http(target + prefix))
            continue;
        push = xreallocarray(NULL, 1, sizeof *push);
        *push = (struct push){.form = (enum push_form)i};
        push->url = url_of(target + prefix, forms[i].path);
        push->curl = curl_easy_init();
        if (push->curl == NULL)
            die("out of memory");
        push->headers = curl_slist_append(
            NULL, i == PUSH_OTLP ? "Content-Type: application/x-protobuf"
                                 : "Content-Type: application/proto");
        push->headers = curl_slist_append(push->headers, "Expect:");
        curl_easy_setopt(push->curl, CURLOPT_URL, push->url);
        curl_easy_setopt(push->curl, CURLOPT_HTTPHEADER, push->headers);
        curl_easy_setopt(push->curl, CURLOPT_WRITEFUNCTION, take_answer);
        curl_easy_setopt(push->curl, CURLOPT_WRITEDATA, push);
        curl_easy_setopt(push->curl, CURLOPT_TIMEOUT, SECONDS);
        curl_easy_setopt(push->curl, CURLOPT_NOSIGNAL, 1L);
        return push;
    }
    snprintf(why, PUSH_WHY,
             "'%s' is neither otlp:http://HOST:PORT nor "
             "pyroscope:http://HOST:PORT",
             target);
    return NULL;
}

void push_close(struct push *push)
{
    curl_slist_free_all(push->headers);
    curl_easy_cleanup(push->curl);
    free(push->url);
    free(push);
}

char *push_body(const struct push *push, const struct push_profile *profile,
                size_t *count)
{
    char *bytes;
    FILE *memory = open_memstream(&bytes, count);

    if (memory == NULL)
        die("out of memory");
    push_encode(push->form, profile, memory);
    if (fclose(memory) != 0)
        die("out of memory");
    return bytes;
}

enum push_outcome push_post(struct push *push, const char *bytes, size_t count,
                            char *why)
{
    char text[2 * ANSWER_MAX];
    CURLcode code;
    long status = 0;

    push->answered = 0;
    curl_easy_setopt(push->curl, CURLOPT_POSTFIELDS, bytes);
    curl_easy_setopt(push->curl, CURLOPT_POSTFIELDSIZE_LARGE,
                     (curl_off_t)count);
    code = curl_easy_perform(push->curl);
    push->answer[push->answered] = '\0';
    curl_easy_getinfo(push->curl, CURLINFO_RESPONSE_CODE, &status);
    if (code != CURLE_OK) {
        snprintf(why, PUSH_WHY, "%.200s: %.200s", push->url,
                 curl_easy_strerror(code));
        return PUSH_AWAY;
    }
    if (status / 100 == 2)
        return PUSH_TAKEN;
    snprintf(why, PUSH_WHY, "%.200s answers %ld: %.200s", push->url, status,
             printable(push->answer, text, sizeof text));
    return status / 100 == 5 || status == 408 || status == 429 ? PUSH_AWAY
                                                               : PUSH_REFUSED;
}

bool push_send(struct push *push, const struct push_profile *profile, char *why)
{
    size_t count;
    char *bytes = push_body(push, profile, &count);
    bool taken = push_post(push, bytes, count, why) == PUSH_TAKEN;

    free(bytes);
    return taken;
}
