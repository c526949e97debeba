/* SPDX-License-Identifier: Apache-2.0 */

#define _GNU_SOURCE

#include "store/embedded.h"

#include "base/bytes.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/wait.h"
#include "store/engine.h"
#include "store/insert.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <microhttpd.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <zlib.h>

#define POLL_SECONDS 0.2
#define OWNER_TRIES 300
#define QUERY_MAX (256u << 10) /* ClickHouse's max_query_size */
#define TOKEN_MAX 256
#define BODY_MAX (256u << 20) /* unpacked; batches are STORE_BYTES_MAX */
#define CONNECTIONS_MAX 64u   /* of each socket: each is a thread */
#define SILENT_SECONDS 600u   /* then a connection ends */

struct embedded {
    const struct embedded_options *options;
    struct engine *engine;
    char *folder;        /* absolute */
    int lock;            /* file */
    atomic_uint busy;    /* requests */
    _Atomic double used; /* when the last one ended */
    int incoming;        /* its folder */
};

/* ---- a request */

struct request {
    int body; /* a file without a name; -1 = no body */
    uint64_t bytes;
    bool is_gzip, ended; /* the gzip's end was seen */
    const char *problem; /* why it is refused, and */
    int code;            /* ClickHouse's number of that */
    unsigned status;     /* HTTP's */
    z_stream stream;
};

/* Codes of ClickHouse's. Senders give up a batch for BAD_DATA only. */
#define BAD_DATA 33
#define CANNOT_OPEN 76
#define CANNOT_WRITE 75
#define NO_MEMORY 241
#define NO_SPACE 243
#define TOO_MANY_BYTES 307

/* What a request asks for. */
struct order {
    const char *database, *format, *token;
    bool read_only;
    char *sql; /* to be freed */
    size_t sql_bytes;
};

/* A response whose bytes are the engine's. */
struct held_answer {
    struct engine *engine;
    struct engine_answer answer;
};

static void free_held(void *owner)
{
    struct held_answer *held = owner;

    engine_answer_free(held->engine, &held->answer);
    free(held);
}

static enum MHD_Result say(struct MHD_Connection *connection, unsigned status,
                           int code, const char *text)
{
    char line[1024], number[16];
    struct MHD_Response *response;
    enum MHD_Result result;

    if (code != 0)
        snprintf(line, sizeof line, "Code: %d. DB::Exception: %s\n", code,
                 text);
    else
        snprintf(line, sizeof line, "%s\n", text);
    response = MHD_create_response_from_buffer(strlen(line), line,
                                               MHD_RESPMEM_MUST_COPY);
    if (response == NULL)
        return MHD_NO;
    snprintf(number, sizeof number, "%d", code);
    if (code != 0)
        MHD_add_response_header(response, "X-ClickHouse-Exception-Code",
                                number);
    if (status == MHD_HTTP_UNAUTHORIZED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE,
                                "Basic realm=\"parasite store\"");
    result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static const char *argument(struct MHD_Connection *connection, const char *name)
{
    return MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, name);
}

static const char *header(struct MHD_Connection *connection, const char *name)
{
    const char *value =
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);

    return value == NULL ? "" : value;
}

/* ---- its body */

static void refuse(struct request *request, unsigned status, int code,
                   const char *problem)
{
    request->status = status;
    request->code = code;
    request->problem = problem;
}

static void refuse_for_now(struct request *request, int error,
                           const char *problem, int code)
{
    if (error == ENOSPC || error == EDQUOT || error == EFBIG) {
        code = NO_SPACE;
        problem = "the body cannot be kept: the disk is full";
    }
    refuse(request, MHD_HTTP_INTERNAL_SERVER_ERROR, code, problem);
}

static void refuse_bytes(struct request *request, const char *problem)
{
    refuse(request, MHD_HTTP_BAD_REQUEST, BAD_DATA, problem);
}

static bool write_body(struct request *request, const void *bytes, size_t count)
{
    const char *at = bytes;

    if (request->bytes + count > BODY_MAX) {
        refuse(request, MHD_HTTP_CONTENT_TOO_LARGE, TOO_MANY_BYTES,
               "the body has more than 256 MiB");
        return false;
    }
    while (count > 0) {
        ssize_t done = write(request->body, at, count);

        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0) {
            refuse_for_now(request, done < 0 ? errno : ENOSPC,
                           "the body cannot be kept: it cannot be written",
                           CANNOT_WRITE);
            return false;
        }
        at += done;
        count -= (size_t)done;
        request->bytes += (uint64_t)done;
    }
    return true;
}

static void inflate_body(struct request *request, const char *bytes,
                         size_t count)
{
    unsigned char out[65536];

    request->stream.next_in = (unsigned char *)(uintptr_t)bytes;
    request->stream.avail_in = (unsigned)count;
    while (request->stream.avail_in > 0 && request->problem == NULL) {
        int result;

        if (request->ended) {
            refuse_bytes(request, "the body goes on after its gzip");
            return;
        }
        do {
            request->stream.next_out = out;
            request->stream.avail_out = sizeof out;
            result = inflate(&request->stream, Z_NO_FLUSH);
            if (result != Z_OK && result != Z_STREAM_END &&
                result != Z_BUF_ERROR) {
                refuse_bytes(request, "the body is not gzip");
                return;
            }
            if (!write_body(request, out,
                            sizeof out - request->stream.avail_out))
                return;
        } while (request->stream.avail_out == 0);
        request->ended = result == Z_STREAM_END;
    }
}

static void take_body(struct embedded *embedded, struct request *request,
                      const char *bytes, size_t count)
{
    if (request->problem != NULL)
        return;
    if (request->body < 0) {
        request->body = openat(embedded->incoming, ".",
                               O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        if (request->body < 0) {
            refuse_for_now(request, errno,
                           "the body cannot be kept: no temporary file",
                           CANNOT_OPEN);
            return;
        }
    }
    if (request->is_gzip)
        inflate_body(request, bytes, count);
    else
        (void)write_body(request, bytes, count);
}

static struct request *begin_request(struct MHD_Connection *connection)
{
    const char *coding = header(connection, MHD_HTTP_HEADER_CONTENT_ENCODING);
    struct request *request = xreallocarray(NULL, 1, sizeof *request);

    *request = (struct request){.body = -1};
    request->is_gzip = strcasecmp(coding, "gzip") == 0;
    if (!request->is_gzip && *coding != '\0' &&
        strcasecmp(coding, "identity") != 0)
        refuse_bytes(request, "bodies are gzip or plain");
    if (request->is_gzip && inflateInit2(&request->stream, 15 + 16) != Z_OK)
        refuse_for_now(request, 0, "out of memory", NO_MEMORY);
    return request;
}

static void end_request(void *owner, struct MHD_Connection *connection,
                        void **slot, enum MHD_RequestTerminationCode why)
{
    struct embedded *embedded = owner;
    struct request *request = *slot;

    (void)connection;
    (void)why;
    if (request == NULL)
        return;
    if (request->body >= 0)
        close(request->body);
    if (request->is_gzip)
        inflateEnd(&request->stream);
    free(request);
    *slot = NULL;
    atomic_store(&embedded->used, seconds_now());
    atomic_fetch_sub(&embedded->busy, 1);
}

/* ---- who asks */

/* In a time that depends on the length of (given) alone. */
static bool same_text(const char *given, const char *right)
{
    size_t bytes = strlen(right);
    unsigned differs = strlen(given) != bytes;

    for (size_t i = 0; given[i] != '\0'; ++i)
        differs |= (unsigned char)(given[i] ^ right[bytes > 0 ? i % bytes : 0]);
    return differs == 0;
}

static bool knows_password(struct MHD_Connection *connection,
                           const char *password)
{
    const char *word = argument(connection, "password");
    const char *key = header(connection, "X-ClickHouse-Key");
    char *basic = NULL;
    char *user = MHD_basic_auth_get_username_password(connection, &basic);
    bool knows = (word != NULL && same_text(word, password)) ||
                 same_text(key, password) ||
                 (basic != NULL && same_text(basic, password));

    MHD_free(user);
    MHD_free(basic);
    return knows;
}

/* Whether it came by the port: then a page of a browser may have sent it. */
static bool is_by_port(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);

    return info != NULL && info->client_addr != NULL &&
           info->client_addr->sa_family == AF_INET;
}

static bool is_our_host(const char *host)
{
    static const char *const names[] = {"127.0.0.1", "localhost"};

    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        size_t bytes = strlen(names[i]);

        if (strncasecmp(host, names[i], bytes) == 0 &&
            (host[bytes] == '\0' || host[bytes] == ':'))
            return true;
    }
    return false;
}

/* Browsers say so; no other client does. */
static bool is_of_a_page(struct MHD_Connection *connection)
{
    const char *site = header(connection, "Sec-Fetch-Site");

    return *header(connection, MHD_HTTP_HEADER_ORIGIN) != '\0' ||
           (*site != '\0' && strcmp(site, "none") != 0 &&
            strcmp(site, "same-origin") != 0);
}

/* Refuses what came by the port and is not to be answered. Its body is then
 * read and not kept. A page of a browser gets here under the name of localhost,
 * or under one of its own that stands for it (DNS rebinding). */
static void look_at_sender(const struct embedded *embedded,
                           struct MHD_Connection *connection, const char *url,
                           struct request *request)
{
    if (!is_by_port(connection))
        return;
    if (!is_our_host(header(connection, MHD_HTTP_HEADER_HOST)))
        refuse(request, MHD_HTTP_FORBIDDEN, 0,
               "this store answers to localhost only");
    else if (is_of_a_page(connection))
        refuse(request, MHD_HTTP_FORBIDDEN, 0,
               "this store answers to no page of another site");
    else if (strcmp(url, "/ping") != 0 &&
             !knows_password(connection, embedded->options->password))
        refuse(request, MHD_HTTP_UNAUTHORIZED, 193, "wrong password");
}

/* ---- what it asks for */

struct parameters {
    const char *unknown;
};

static enum MHD_Result look_at_parameter(void *owner, enum MHD_ValueKind kind,
                                         const char *name, const char *value)
{
    static const char *const known[] = {"query",
                                        "database",
                                        "default_format",
                                        "insert_deduplication_token",
                                        "async_insert",
                                        "query_id",
                                        "wait_end_of_query",
                                        "readonly",
                                        "user",
                                        "password",
                                        "session_id",
                                        "compress"};
    struct parameters *parameters = owner;

    (void)kind;
    (void)value;
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i)
        if (strcmp(name, known[i]) == 0)
            return MHD_YES;
    parameters->unknown = name;
    return MHD_NO;
}

/* Adds (text) with ' and \ escaped. */
static void put_escaped(FILE *out, const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; ++i) {
        if (text[i] == '\'' || text[i] == '\\')
            putc('\\', out);
        putc(text[i], out);
    }
}

/* Adds the column of a line "name\ttype\t..." of DESCRIBE to a structure. Both
 * are as in TabSeparated, so quotes are escaped already. */
static void put_column(FILE *out, const char *name, size_t name_bytes,
                       const char *type, size_t type_bytes, bool first)
{
    fprintf(out, "%s`%.*s` %.*s", first ? "" : ", ", (int)name_bytes, name,
            (int)type_bytes, type);
}

/* The one of (lines), of (count) bytes, that begins with the column (name). */
static const char *line_of_column(const char *lines, size_t count,
                                  const char *name, size_t bytes)
{
    for (const char *line = lines; line < lines + count;) {
        const char *end = memchr(line, '\n', (size_t)(lines + count - line));

        if (strncmp(line, name, bytes) == 0 && line[bytes] == '\t')
            return line;
        if (end == NULL)
            break;
        line = end + 1;
    }
    return NULL;
}

/* Writes the structure of a table's (columns), by the answer of DESCRIBE. */
static bool put_structure(FILE *out, const struct insert *insert,
                          const struct engine_answer *described)
{
    const char *at = insert->columns, *end = at + insert->columns_bytes;
    bool first = true;

    if (insert->columns_bytes == 0) {
        at = described->bytes;
        end = at + described->count;
    }
    while (at < end) {
        const char *line = at, *tab, *type_end;

        if (insert->columns_bytes > 0) {
            size_t bytes;

            at += strspn(at, " ,\t\n`\"");
            bytes = strcspn(at, " ,\t\n`\")");
            line =
                line_of_column(described->bytes, described->count, at, bytes);
            at += bytes + strspn(at + bytes, " ,\t\n`\"");
            if (line == NULL)
                return false;
        } else {
            at = memchr(line, '\n', (size_t)(end - line));
            at = at == NULL ? end : at + 1;
        }
        tab = strchr(line, '\t');
        if (tab == NULL)
            return false;
        type_end = tab + 1 + strcspn(tab + 1, "\t\n");
        put_column(out, line, (size_t)(tab - line), tab + 1,
                   (size_t)(type_end - tab - 1), first);
        first = false;
    }
    return !first;
}

/* The engine takes binary data of an insert from a file only: in the text of a
 * query two ends of line would end it, without an error. */
static bool make_insert(struct embedded *embedded, struct order *order,
                        const struct insert *insert, int body,
                        struct engine_answer *failed)
{
    struct engine_answer described;
    char *sql;
    size_t bytes;
    FILE *out;
    bool fine;

    sql = text_format("DESCRIBE TABLE %.*s", (int)insert->table_bytes,
                      insert->table);
    engine_query(embedded->engine, order->database, true, sql, strlen(sql),
                 "TabSeparated", &described);
    free(sql);
    if (described.code != 0) {
        *failed = described;
        return false;
    }
    out = open_memstream(&sql, &bytes);
    if (out == NULL)
        die("out of memory");
    fprintf(out, "INSERT INTO %.*s", (int)insert->table_bytes, insert->table);
    if (insert->columns_bytes > 0)
        fprintf(out, " (%.*s)", (int)insert->columns_bytes, insert->columns);
    fputs(" SETTINGS async_insert = 0, max_insert_threads = 1", out);
    if (order->token != NULL) {
        fputs(", insert_deduplication_token = '", out);
        put_escaped(out, order->token, strlen(order->token));
        putc('\'', out);
    }
    fprintf(out, " SELECT * FROM file('/proc/self/fd/%d', '%.*s', '", body,
            (int)insert->format_bytes, insert->format);
    fine = put_structure(out, insert, &described);
    fputs("')", out);
    fclose(out);
    engine_answer_free(embedded->engine, &described);
    free(order->sql);
    order->sql = sql;
    order->sql_bytes = bytes;
    if (!fine)
        *failed = (struct engine_answer){
            "Code: 16. DB::Exception: the table has no such column", 53, 16,
            NULL};
    return fine;
}

/* The query is that of the parameter, a line end and the body, as far as they
 * are there. */
static const char *make_sql(struct order *order, const char *query,
                            const struct request *request)
{
    size_t query_bytes = query == NULL ? 0 : strlen(query);
    size_t line = query_bytes > 0 && request->bytes > 0;
    size_t bytes = query_bytes + line + request->bytes;

    if (query_bytes > QUERY_MAX || request->bytes > QUERY_MAX)
        return "the query has more than 256 KiB";
    order->sql = xreallocarray(NULL, bytes + 1, 1);
    order->sql_bytes = bytes;
    if (query_bytes > 0)
        memcpy(order->sql, query, query_bytes);
    if (line)
        order->sql[query_bytes] = '\n';
    if (request->bytes > 0 &&
        pread(request->body, order->sql + query_bytes + line, request->bytes,
              0) != (ssize_t)request->bytes)
        return "the body cannot be read again";
    order->sql[bytes] = '\0';
    return bytes == 0 ? "the query is empty" : NULL;
}

static unsigned status_of(int code)
{
    switch (code) {
    case 0:
        return MHD_HTTP_OK;
    case 60: /* no table */
    case 81: /* no database */
        return MHD_HTTP_NOT_FOUND;
    case 193: /* wrong password */
        return MHD_HTTP_UNAUTHORIZED;
    default:
        return MHD_HTTP_INTERNAL_SERVER_ERROR;
    }
}

static enum MHD_Result send_answer(struct embedded *embedded,
                                   struct MHD_Connection *connection,
                                   const struct engine_answer *answer)
{
    struct held_answer *held = xreallocarray(NULL, 1, sizeof *held);
    struct MHD_Response *response;
    enum MHD_Result result;
    char number[16];

    *held = (struct held_answer){embedded->engine, *answer};
    response = MHD_create_response_from_buffer_with_free_callback_cls(
        answer->count, (void *)(uintptr_t)answer->bytes, free_held, held);
    if (response == NULL) {
        free_held(held);
        return MHD_NO;
    }
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
                            "text/plain; charset=UTF-8");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    if (answer->code != 0) {
        snprintf(number, sizeof number, "%d", answer->code);
        MHD_add_response_header(response, "X-ClickHouse-Exception-Code",
                                number);
    }
    result = MHD_queue_response(connection, status_of(answer->code), response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result run_order(struct embedded *embedded,
                                 struct MHD_Connection *connection,
                                 struct request *request, bool read_only)
{
    const char *query = argument(connection, "query"), *problem;
    struct order order = {argument(connection, "database"),
                          argument(connection, "default_format"),
                          argument(connection, "insert_deduplication_token"),
                          read_only,
                          NULL,
                          0};
    struct engine_answer answer;
    struct insert insert;
    bool is_data =
        query != NULL && request->bytes > 0 && insert_parse(query, &insert);
    enum MHD_Result result;

    if (order.database == NULL || *order.database == '\0')
        order.database = "default";
    if (order.format == NULL)
        order.format = "TabSeparated";
    if (order.token != NULL && strlen(order.token) > TOKEN_MAX)
        return say(connection, MHD_HTTP_BAD_REQUEST, 36,
                   "the token is too long");
    if (is_data && read_only)
        return say(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, 164,
                   "GET and readonly change nothing: use POST");
    if (!is_data) {
        problem = make_sql(&order, query, request);
        if (problem != NULL) {
            free(order.sql);
            return say(connection, MHD_HTTP_BAD_REQUEST, 62, problem);
        }
    } else if (!make_insert(embedded, &order, &insert, request->body,
                            &answer)) {
        free(order.sql);
        return send_answer(embedded, connection, &answer);
    }
    engine_query(embedded->engine, order.database, read_only, order.sql,
                 order.sql_bytes, order.format, &answer);
    result = send_answer(embedded, connection, &answer);
    free(order.sql);
    return result;
}

static enum MHD_Result answer_request(struct embedded *embedded,
                                      struct MHD_Connection *connection,
                                      const char *url, struct request *request,
                                      bool read_only)
{
    struct parameters parameters = {NULL};
    const char *readonly = argument(connection, "readonly");
    char text[256];

    if (request->is_gzip && !request->ended && request->problem == NULL)
        refuse_bytes(request, "the body's gzip has no end");
    if (request->problem != NULL)
        return say(connection, request->status, request->code,
                   request->problem);
    if (strcmp(url, "/ping") == 0)
        return say(connection, MHD_HTTP_OK, 0, "Ok.");
    if (strcmp(url, "/") != 0)
        return say(connection, MHD_HTTP_NOT_FOUND, 0, "there is no such page");
    MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND,
                              look_at_parameter, &parameters);
    if (parameters.unknown != NULL) {
        snprintf(text, sizeof text, "Unknown setting %.100s",
                 parameters.unknown);
        return say(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, 115, text);
    }
    if (argument(connection, "query") == NULL && request->bytes == 0)
        return say(connection, MHD_HTTP_OK, 0, "Ok.");
    if (readonly != NULL && strcmp(readonly, "0") != 0)
        read_only = true;
    return run_order(embedded, connection, request, read_only);
}

static enum MHD_Result handle(void *owner, struct MHD_Connection *connection,
                              const char *url, const char *method,
                              const char *version, const char *bytes,
                              size_t *count, void **slot)
{
    struct embedded *embedded = owner;
    struct request *request = *slot;
    bool read_only = strcmp(method, "POST") != 0;

    (void)version;
    if (request == NULL) {
        atomic_fetch_add(&embedded->busy, 1);
        request = begin_request(connection);
        look_at_sender(embedded, connection, url, request);
        *slot = request;
        return MHD_YES;
    }
    if (*count > 0) {
        take_body(embedded, request, bytes, *count);
        *count = 0;
        return MHD_YES;
    }
    if (read_only && strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
        return say(connection, MHD_HTTP_METHOD_NOT_ALLOWED, 0,
                   "only GET and POST");
    return answer_request(embedded, connection, url, request, read_only);
}

/* ---- its sockets */

char *embedded_socket(const char *path, int *folder)
{
    struct sockaddr_un address;

    *folder = -1;
    if (strlen(path) + sizeof "/socket" <= sizeof address.sun_path)
        return text_format("%s/socket", path);
    *folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (*folder < 0)
        return NULL;
    return text_format("/proc/self/fd/%d/socket", *folder);
}

static int listen_in(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int folder, file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    char *name = embedded_socket(path, &folder);
    bool fine = name != NULL && file >= 0;

    if (fine) {
        snprintf(address.sun_path, sizeof address.sun_path, "%s", name);
        unlink(name); /* of an owner that is gone: we have the lock */
        fine = bind(file, (struct sockaddr *)&address, sizeof address) == 0 &&
               listen(file, 64) == 0;
    }
    free(name);
    if (folder >= 0)
        close(folder);
    if (!fine && file >= 0)
        close(file);
    return fine ? file : -1;
}

static int listen_at(unsigned port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

    if (file < 0)
        return -1;
    setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(file, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(file, 64) != 0) {
        close(file);
        return -1;
    }
    return file;
}

static struct MHD_Daemon *serve_on(struct embedded *embedded, int file)
{
    return MHD_start_daemon(
        MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD |
            MHD_USE_POLL,
        0, NULL, NULL, handle, embedded, MHD_OPTION_LISTEN_SOCKET, file,
        MHD_OPTION_NOTIFY_COMPLETED, end_request, embedded,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)512 << 10,
        MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX,
        MHD_OPTION_CONNECTION_TIMEOUT, SILENT_SECONDS, MHD_OPTION_END);
}

/* ---- its folder */

/* Makes the folder (path) and what is in it; false: errno says why. */
static bool make_folders(struct embedded *embedded, const char *path)
{
    char *incoming = NULL;
    bool fine;

    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return false;
    embedded->folder = realpath(path, NULL);
    if (embedded->folder == NULL)
        return false;
    incoming = text_format("%s/incoming", embedded->folder);
    fine = mkdir(incoming, 0700) == 0 || errno == EEXIST;
    embedded->incoming =
        fine ? open(incoming, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    free(incoming);
    return embedded->incoming >= 0;
}

/* Takes the lock; false: another process has it, whose number is (owner). */
static bool take_lock(struct embedded *embedded, char *owner, size_t room)
{
    char *name = NULL;
    ssize_t bytes;

    name = text_format("%s/lock", embedded->folder);
    embedded->lock = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (embedded->lock < 0)
        die("%s: %s", name, strerror(errno));
    free(name);
    if (flock(embedded->lock, LOCK_EX | LOCK_NB) == 0) {
        if (ftruncate(embedded->lock, 0) != 0 ||
            dprintf(embedded->lock, "%d\n", (int)getpid()) < 0)
            die("%s/lock: %s", embedded->folder, strerror(errno));
        return true;
    }
    bytes = pread(embedded->lock, owner, room - 1, 0);
    owner[bytes > 0 ? bytes : 0] = '\0';
    owner[strcspn(owner, "\n")] = '\0';
    return false;
}

static bool is_idle(struct embedded *embedded)
{
    double idle = embedded->options->idle_seconds;

    return idle > 0 && atomic_load(&embedded->busy) == 0 &&
           seconds_now() - atomic_load(&embedded->used) > idle;
}

static void serve_until_end(struct embedded *embedded)
{
    const struct embedded_options *options = embedded->options;
    struct MHD_Daemon *by_port = NULL, *by_socket;
    int port = -1, file;

    if (options->port != 0) {
        port = listen_at(options->port);
        by_port = port < 0 ? NULL : serve_on(embedded, port);
        if (by_port == NULL)
            die("127.0.0.1:%u: %s", options->port, strerror(errno));
    }
    file = listen_in(embedded->folder);
    by_socket = file < 0 ? NULL : serve_on(embedded, file);
    if (by_socket == NULL)
        die("%s/socket: %s", embedded->folder, strerror(errno));
    log_info("%s is open: %s/socket%s", options->path, embedded->folder,
             options->port != 0 ? ", and its port of 127.0.0.1" : "");
    while (!signals_caught() && !is_idle(embedded))
        wait_until(seconds_now() + POLL_SECONDS);
    MHD_stop_daemon(by_socket);
    if (by_port != NULL)
        MHD_stop_daemon(by_port);
}

int embedded_run(const struct embedded_options *options)
{
    struct embedded embedded = {.options = options, .used = seconds_now()};
    char why[512], owner[32], *path = NULL;
    unsigned tries = 0;

    if (!engine_may_be_there(why, sizeof why))
        die("%s", why);
    if (!make_folders(&embedded, options->path))
        die("%s: %s", options->path, strerror(errno));
    while (!take_lock(&embedded, owner, sizeof owner)) {
        /* that one may be about to answer, or to end */
        if (options->is_started && tries++ < OWNER_TRIES) {
            if (embedded_listens(options->path))
                return STATUS_OK;
            close(embedded.lock);
            wait_until(seconds_now() + POLL_SECONDS);
            continue;
        }
        die("%s: process %s has this store open; ask that one: it answers at "
            "%s/socket",
            options->path, owner, embedded.folder);
    }
    signals_catch();
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file at its limit is a full disk */
    path = text_format("%s/db", embedded.folder);
    embedded.engine = engine_open(path, why, sizeof why);
    if (embedded.engine == NULL)
        die("%s", why);
    free(path);
    atomic_store(&embedded.used, seconds_now());
    serve_until_end(&embedded);
    engine_close(embedded.engine);
    close(embedded.incoming);
    close(embedded.lock);
    free(embedded.folder);
    return STATUS_OK;
}
