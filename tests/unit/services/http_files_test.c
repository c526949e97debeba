/* SPDX-License-Identifier: Apache-2.0 */
/* Files out of a tar archive: found as they are, and no byte beyond it read
 * with any damage in it. */

#include "../unit.h"

#include "../../../services/http/files.h"

#define BLOCK 512u
#define BLOCKS 8u

static char archive[BLOCKS * BLOCK];
static size_t archive_bytes;

static void set_sum(char *header)
{
    unsigned sum = 0;

    memset(header + 148, ' ', 8);
    for (unsigned i = 0; i < BLOCK; i++)
        sum += (unsigned char)header[i];
    snprintf(header + 148, 8, "%06o", sum);
}

static char *add(const char *name, char kind, const char *bytes)
{
    char *header = archive + archive_bytes;
    size_t count = strlen(bytes);

    memset(header, 0, BLOCK);
    strcpy(header, name);
    snprintf(header + 124, 12, "%011o", (unsigned)count);
    header[156] = kind;
    memcpy(header + 257, "ustar\00000", 8);
    set_sum(header);
    archive_bytes += BLOCK;
    memcpy(archive + archive_bytes, bytes, count);
    archive_bytes += (count + BLOCK - 1) / BLOCK * BLOCK;
    return header;
}

static void begin(void)
{
    memset(archive, 0, sizeof archive);
    archive_bytes = 0;
}

/* How many files are found in (bytes) of it, copied to where ASan watches. */
static unsigned count_files(size_t bytes)
{
    char *copy = malloc(bytes != 0 ? bytes : 1);
    struct http_file file;
    unsigned count = 0;
    size_t at = 0;

    memcpy(copy, archive, bytes);
    while (http_files_next(copy, bytes, &at, &file)) {
        count++;
        for (size_t i = 0; i < file.count; i++)
            assert_in_range(file.bytes + i - copy, 0, bytes - 1);
    }
    free(copy);
    return count;
}

FIXTURE(begin, NULL);

TEST(files_are_found)
{
    struct http_file file;

    add("./", '5', "");
    add("./a.html", '0', "hello");
    add("/b", '\0', "");
    add("link", '2', "");
    assert_int_equal(count_files(archive_bytes), 2);
    assert_true(http_files_find(archive, archive_bytes, "a.html", &file));
    assert_int_equal(file.count, 5);
    assert_memory_equal(file.bytes, "hello", 5);
    assert_true(http_files_find(archive, archive_bytes, "b", &file));
    assert_int_equal(file.count, 0);
    assert_false(http_files_find(archive, archive_bytes, "link", &file));
    assert_false(http_files_find(archive, archive_bytes, "", &file));
}

TEST(the_longest_name_fits)
{
    char name[HTTP_NAME_MAX];
    struct http_file file;
    char *header = add("", '0', "x");

    memset(header, 'n', 100);
    memset(header + 345, 'p', 155);
    set_sum(header);
    memset(name, 'p', 155);
    name[155] = '/';
    memset(name + 156, 'n', 100);
    name[256] = '\0';
    assert_true(http_files_find(archive, archive_bytes, name, &file));
}

TEST(a_cut_archive_ends_early)
{
    add("a", '0', "hello");
    add("b", '0', "world");
    for (size_t bytes = 0; bytes <= archive_bytes; bytes++)
        assert_int_equal(count_files(bytes), bytes >= 3 * BLOCK + 5 ? 2
                                             : bytes >= BLOCK + 5   ? 1
                                                                    : 0);
}

TEST(a_wrong_size_or_sum_ends_it)
{
    char *header;

    header = add("a", '0', "hello");
    header[0] = 'b';
    assert_int_equal(count_files(archive_bytes), 0);
    memcpy(header + 124, "77777777777", 11);
    set_sum(header);
    assert_int_equal(count_files(archive_bytes), 0);
    memcpy(header + 124, "-0000000001", 11);
    set_sum(header);
    assert_int_equal(count_files(archive_bytes), 0);
    memset(header + 124, ' ', 12);
    set_sum(header);
    assert_int_equal(count_files(archive_bytes), 0);
}

TEST(types_follow_from_names)
{
    assert_string_equal(http_files_type("a/b.html"),
                        "text/html; charset=utf-8");
    assert_string_equal(http_files_type("a.tar.gz"), "application/gzip");
    assert_string_equal(http_files_type("none"), "application/octet-stream");
}
