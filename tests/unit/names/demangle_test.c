/* SPDX-License-Identifier: Apache-2.0 */
/* Names that are not mangled are copied, as far as they fit. */

#include "../unit.h"

#include <prof/demangle.h>

static const char *const plain[] = {
    "",
    "f",
    "_",
    "_start",
    "main",
    "leaf_a",
    "luaV_execute",
    "memcpy.part.0",
    "a_name_that_is_longer_than_most_names_of_functions_in_a_c_program_are",
};

/* Asks for (name) in exactly (size) bytes of memory. */
static void expect_copy(const char *name, size_t size)
{
    struct prof_demangle_work *work = malloc(sizeof *work);
    size_t length = strlen(name);
    size_t kept = length < size ? length : size - 1;
    char *out = malloc(size);
    struct prof_demangled got;

    memset(out, '#', size);
    got = prof_demangle(name, out, size, work);
    assert_int_equal(got.bytes, kept);
    assert_int_equal(got.truncated, kept < length);
    assert_int_equal(got.language, PROF_LANGUAGE_NONE);
    assert_memory_equal(out, name, kept);
    assert_int_equal(out[kept], '\0');
    free(out);
    free(work);
}

TEST(a_plain_name_comes_back_as_it_is)
{
    for (size_t i = 0; i < COUNT(plain); ++i)
        expect_copy(plain[i], strlen(plain[i]) + 1);
}

TEST(a_name_is_cut_to_any_size)
{
    for (size_t i = 0; i < COUNT(plain); ++i) {
        for (size_t size = 1; size < 80; ++size)
            expect_copy(plain[i], size);
    }
}

TEST(no_room_is_reported)
{
    static struct prof_demangle_work work;

    for (size_t i = 0; i < COUNT(plain); ++i) {
        struct prof_demangled got = prof_demangle(plain[i], NULL, 0, &work);

        assert_int_equal(got.bytes, 0);
        assert_int_equal(got.truncated, plain[i][0] != 0);
    }
}

TEST(each_language_is_printed_as_its_tools_do)
{
    static const struct {
        const char *name, *readable;
        enum prof_language language;
    } rows[] = {
        {"_Z3fooi", "foo(int)", PROF_LANGUAGE_CXX},
        {"_ZN9VirtioNet8transmitESt10shared_ptrIN3net6PacketEE",
         "VirtioNet::transmit(std::shared_ptr<net::Packet>)",
         PROF_LANGUAGE_CXX},
        {"_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()() const",
         PROF_LANGUAGE_CXX},
        {"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE",
         "core::fmt::Write::write_fmt", PROF_LANGUAGE_RUST},
        {"_RNvC7mycrate3foo", "mycrate::foo", PROF_LANGUAGE_RUST},
        {"camlStdlib__List__map_123", "Stdlib.List.map_123",
         PROF_LANGUAGE_OCAML},
    };
    static struct prof_demangle_work work;
    char out[256];

    for (size_t i = 0; i < COUNT(rows); ++i) {
        struct prof_demangled got =
            prof_demangle(rows[i].name, out, sizeof out, &work);

        assert_string_equal(out, rows[i].readable);
        assert_int_equal(got.bytes, strlen(rows[i].readable));
        assert_int_equal(got.language, rows[i].language);
        assert_false(got.truncated);
    }
}
