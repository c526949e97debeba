/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The demangler against answers that are written down here: one or two for
 * each form of each language, what comes back as it is, and what happens at
 * the end of the buffer, of the workspace and of the budget. Agreement with
 * the established tools on names by the hundred thousand is tested elsewhere
 * (tests/names).
 */

#include "../unit.h"

#include <prof/demangle.h>

struct pair {
    const char *mangled;
    const char *readable;
};

static struct prof_demangle_work work;
static char out[65536];

static void expect_all(const struct pair *pairs, size_t count,
                       enum prof_language language)
{
    for (size_t i = 0; i < count; i++) {
        struct prof_demangled got =
            prof_demangle(pairs[i].mangled, out, sizeof out, &work);

        assert_string_equal(out, pairs[i].readable);
        assert_int_equal(got.bytes, strlen(out));
        assert_int_equal(got.language, language);
        assert_false(got.truncated);
    }
}

#define EXPECT_ALL(pairs, language) expect_all(pairs, COUNT(pairs), language)

static const struct pair cxx[] = {
    {"_Z1fv", "f()"},
    {"_Z3fooi", "foo(int)"},
    {"_ZN9VirtioNet8transmitESt10shared_ptrIN3net6PacketEE",
     "VirtioNet::transmit(std::shared_ptr<net::Packet>)"},
    {"_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()() const"},
    {"_ZN3net6Packet4sizeEv", "net::Packet::size()"},
    {"_ZNK1A1fEv", "A::f() const"},
    {"_ZNVKO1A1fEv", "A::f() const volatile &&"},
    {"_ZN1AC2Ei", "A::A(int)"},
    {"_ZN1AIiED0Ev", "A<int>::~A()"},
    {"_ZN12_GLOBAL__N_11fEv", "(anonymous namespace)::f()"},
    {"_Z1fPKcRS_", "f(char const*, char const&)"},
    {"_Z1fPKcS0_S_", "f(char const*, char const*, char const)"},
    {"_Z1fPFPFviEcE", "f(void (*(*)(char))(int))"},
    {"_Z1fRA5_A6_Ki", "f(int const (&) [5][6])"},
    {"_Z1fM1AKFviE", "f(void (A::*)(int) const)"},
    {"_Z1fPDoFvvE", "f(void (*)() noexcept)"},
    {"_Z1fPDwi1AB3tagEFvvE", "f(void (*)() throw(int, A[abi:tag]))"},
    {"_Z3maxIiET_S0_S0_", "int max<int>(int, int)"},
    {"_Z1fIJicEEvDpT_", "void f<int, char>(int, char)"},
    {"_Z1fIJEEvDpT_", "void f<>()"},
    {"_Z1fIRiEvOT_", "void f<int&>(int&)"},
    {"_Z1fIKiEvPKT_", "void f<int const>(int const*)"},
    {"_Z1fI1AIiEEvT_", "void f<A<int> >(A<int>)"},
    {"_Z1fILi5ELb1ELc65ELj7EEvv", "void f<5, true, (char)65, 7u>()"},
    {"_Z1fIXadL_ZN1A1gEvEEEvv", "void f<&A::g>()"},
    {"_Z1fIiEDTplfp_fp_ET_", "decltype ({parm#1}+{parm#1}) f<int>(int)"},
    {"_Z1fIJicEEDTflplT_EDpT_",
     "decltype ((...+(int, char))) f<int, char>(int, char)"},
    {"_ZN1AcvPKT_IcEEv", "A::operator char const*<char>()"},
    {"_ZN1AltIiEEvv", "void A::operator< <int>()"},
    {"_Zli2_xy", "operator\"\" _x(unsigned long long)"},
    {"_ZZ1fvE1x", "f()::x"},
    {"_ZZ1fvENKUlT_E_clIiEEDaS_",
     "auto f()::{lambda(auto:1)#1}::operator()<int>(int) const"},
    {"_ZZ1fvEN1A1gEv", "f()::A::g()"},
    {"_ZZ1fvEd0_NKUlvE_clEv",
     "f()::{default arg#2}::{lambda()#1}::operator()() const"},
    {"_ZTV1A", "vtable for A"},
    {"_ZTC1A0_1B", "construction vtable for B-in-A"},
    {"_ZThn8_N1A1fEv", "non-virtual thunk to A::f()"},
    {"_ZGVZ1fvE1x", "guard variable for f()::x"},
    {"_ZNSsC1Ev", "std::basic_string<char, std::char_traits<char>, "
                  "std::allocator<char> >::basic_string()"},
    {"_ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE4sizeEv",
     "std::__cxx11::basic_string<char, std::char_traits<char>, "
     "std::allocator<char> >::size() const"},
    {"_ZN1A1fB5cxx11Ev", "A::f[abi:cxx11]()"},
    {"_ZW3Foo3barv", "bar@Foo()"},
    {"_ZDC1a1bE", "[a, b]"},
    {"_Z1fDv4_f", "f(float __vector(4))"},
    {"_Z1fv.isra.0.cold", "f() [clone .isra.0] [clone .cold]"},
    {"_GLOBAL__I__Z1fv", "global constructors keyed to f()"},
};

TEST(test_cxx_as_gnu_prints_it)
{
    EXPECT_ALL(cxx, PROF_LANGUAGE_CXX);
}

static const struct pair llvm[] = {
    {"_Z1fDB8_", "f(_BitInt(8))"},
    {"_Z1fITniLi1E1AI1BIiEEEvv", "void f<1, A<B<int>>>()"},
    {"_Z1fITk1CiEvT_", "void f<int>(int)"},
    {"_ZNH3Foo3barES_i", "Foo::bar(this Foo, int)"},
    {"_ZNH1A1fIS_EEvT_i", "void A::f<A>(this A, int)"},
    {"_ZNH1A1fERA3_i", "A::f(this int (&) [3])"},
    {"_ZNH1A1fEv", "A::f()"},
    {"_ZN1AF3fooERKS_", "A::friend foo(A const&)"},
    {"_ZN1AIiEFeqERKS0_S2_",
     "A<int>::friend operator==(A<int> const&, A<int> const&)"},
    {"_ZN1AF3fooB3tagEv", "A::friend foo[abi:tag]()"},
    {"_ZZ1fvENKUlTnivE_clITniLi1EEEDav",
     "auto f()::'lambda'<int $N>()::operator()<1>() const"},
    {"___Z1fv_block_invoke_2", "invocation function for block in f()"},
    {"_ZGR1x_", "reference temporary for x"},
};

TEST(test_cxx_as_llvm_prints_what_gnu_refuses)
{
    EXPECT_ALL(llvm, PROF_LANGUAGE_CXX);
}

static const struct pair rust[] = {
    {"_RNvC7mycrate3foo", "mycrate::foo"},
    {"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE",
     "core::fmt::Write::write_fmt"},
    {"_ZN4core3fmt5Write10write_char17h0123456789abcdefE",
     "core::fmt::Write::write_char"},
    {"_ZN59_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$GT$3bar"
     "17h930b740aa94f1d3aE",
     "<Test + 'static as foo::Bar>::bar"},
    {"_ZN3foo3bar17h0123456789abcdefE.llvm.1A2B", "foo::bar"},
    {"_ZN3foo3bar17h0123456789abcdefE.cold", "foo::bar.cold"},
    {"_RNvC6_123foo3bar", "123foo::bar"},
    {"_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar"},
    {"_RNCNvC1a1f0", "a::f::{closure#0}"},
    {"_RINvC1a1fmE", "a::f::<u32>"},
    {"_RNvMC1aNtB2_1S1f", "<a::S>::f"},
    {"_RNvXC1aNtB2_1SNtB2_1T1f", "<a::S as a::T>::f"},
    {"_RINvC1a1fReQShPaE", "a::f::<&str, &mut [u8], *const i8>"},
    {"_RINvC1a1fTmETEAmj8_E", "a::f::<(u32,), (), [u32; 8]>"},
    {"_RINvC1a1fFG0_RL0_eEuE", "a::f::<for<'a, 'b> fn(&'b str)>"},
    {"_RINvC1a1fFUKCjEuE", "a::f::<unsafe extern \"C\" fn(usize)>"},
    {"_RINvC1a1fDNtC1b1TEL_E", "a::f::<dyn b::T>"},
    {"_RINvC1a1fKj1f_Kb1_Kc41_Kan5_E", "a::f::<31, true, 'A', -5>"},
    /* shown, a mark that joins, none yet, a picture, private, planes' ends */
    {"_RIC1aKc2202_Kc301_Kc378_E",
     "a::<'\xe2\x88\x82', '\\u{301}', '\\u{378}'>"},
    {"_RIC1aKc1f40a_Kce000_E", "a::<'\xf0\x9f\x90\x8a', '\\u{e000}'>"},
    {"_RIC1aKcffff_Kc10000_E", "a::<'\\u{ffff}', '\xf0\x90\x80\x80'>"},
    {"_RIC1aKc10ffff_Kca_Kc0_E", "a::<'\\u{10ffff}', '\\n', '\\0'>"},
    {"_RIC1aKRe27cc81e28882_E", "a::<\"'\\u{301}\xe2\x88\x82\">"},
    {"_RINvC1a1fKRe616263_E", "a::f::<\"abc\">"},
    {"_RNvC1au9bcher_kva", "a::b\u00fccher"},
};

TEST(test_rust_as_rustfilt_prints_it)
{
    EXPECT_ALL(rust, PROF_LANGUAGE_RUST);
}

static const struct pair ocaml[] = {
    {"camlStdlib__List__map_345", "Stdlib.List.map_345"},
    {"camlStdlib.List.map_345", "Stdlib.List.map_345"},
    {"camlStdlib__$3d$3d_123", "Stdlib.==_123"},
    {"camlA__caf$c3$a9_1", "A.caf\u00e9_1"},
    {"camlA$ff$00_1", "A$ff$00_1"},
};

TEST(test_ocaml_as_perf_prints_it)
{
    EXPECT_ALL(ocaml, PROF_LANGUAGE_OCAML);
}

static const char *const others[] = {
    "",
    "f",
    "_",
    "_Z",
    "_Zx",
    "_ZN",
    "_start",
    "main",
    "memcpy.part.0",
    "a_name_that_is_longer_than_most_names_of_functions_in_a_c_program_are",
    "camlish",
    "caml",
    "_R",
    "_Rust",
    "_Z1fS5_",
    "_Z3ab",
    "_ZN1AC",
    "_Z1f$",
    "?f@@YAXXZ",
    "_ZN3fooE3",
    "_ZN3foo3bar17h0123456789abcdeE?",
    "\xff\xfe",
    "_Z1fT_",
    "f()",
    "_GLOBAL__sub_I_main",
};

TEST(test_other_names_come_back_as_they_are)
{
    for (size_t i = 0; i < COUNT(others); i++) {
        struct prof_demangled got =
            prof_demangle(others[i], out, sizeof out, &work);

        assert_string_equal(out, others[i]);
        assert_int_equal(got.language, PROF_LANGUAGE_NONE);
        assert_false(got.truncated);
        got = prof_demangle(others[i], NULL, 0, &work);
        assert_int_equal(got.bytes, 0);
        assert_int_equal(got.truncated, others[i][0] != '\0');
    }
    prof_demangle("_Z1fv", out, sizeof out, NULL);
    assert_string_equal(out, "_Z1fv");
}

TEST(test_each_language_can_be_asked_for_alone)
{
    static const struct {
        enum prof_language language;
        const char *mangled, *readable;
    } rows[] = {
        {PROF_LANGUAGE_RUST, "_Z1fv", "_Z1fv"},
        {PROF_LANGUAGE_RUST, "_ZN3foo3barE", "foo::bar"},
        {PROF_LANGUAGE_CXX, "_RNvC1a1b", "_RNvC1a1b"},
        {PROF_LANGUAGE_CXX, "_ZN3foo3bar17h0123456789abcdefE",
         "foo::bar::h0123456789abcdef"},
        {PROF_LANGUAGE_OCAML, "camlA__f_1", "A.f_1"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        prof_demangle_as(rows[i].language, rows[i].mangled, out, sizeof out,
                         &work);
        assert_string_equal(out, rows[i].readable);
    }
}

TEST(test_types_that_functions_return_can_be_omitted)
{
    static const struct {
        const char *mangled, *brief;
    } rows[] = {
        {"_Z3maxIiET_S0_S0_", "max<int>(int, int)"},
        {"_Z1fIiEDTplfp_fp_ET_", "f<int>(int)"},
        {"_ZN1AltIiEEvv", "A::operator< <int>()"},
        {"_Z1fIiEPFvvET_", "f<int>(int)"},
        {"_Z1gIiEPA3_iT_", "g<int>(int)"},
        {"_Z1fIXadL_Z1gIiEvvEEEvv", "f<&(g<int>())>()"},
        {"_ZNK1AcvT_IiEEv", "A::operator int<int>() const"},
        /* what a parameter returns stays, and so does all of others */
        {"_Z1fIiEvPFT_vE", "f<int>(int (*)())"},
        {"_Z1fi", "f(int)"},
        {"_RNvC1a1b", "a::b"},
        {"camlA__f_1", "A.f_1"},
        {"main", "main"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct prof_demangled got = prof_demangle_as(
            PROF_LANGUAGE_AUTO_BRIEF, rows[i].mangled, out, sizeof out, &work);

        assert_string_equal(out, rows[i].brief);
        assert_false(got.truncated);
        assert_int_equal(got.bytes, strlen(rows[i].brief));
        for (size_t size = 1; size <= got.bytes; size++) {
            static char small[256];

            prof_demangle_as(PROF_LANGUAGE_AUTO_BRIEF, rows[i].mangled, small,
                             size, &work);
            assert_int_equal(strlen(small), size - 1);
            assert_memory_equal(small, out, size - 1);
        }
    }
}

/* Every size of buffer, exactly as large as it says. */
static void expect_prefixes(const char *name)
{
    struct prof_demangled whole = prof_demangle(name, out, sizeof out, &work);

    for (size_t size = 0; size <= whole.bytes + 2; size++) {
        char *small = malloc(size + 1);
        struct prof_demangled got;

        memset(small, '#', size + 1);
        got = prof_demangle(name, small, size, &work);
        assert_int_equal(small[size], '#');
        assert_true(got.truncated == (size <= whole.bytes));
        assert_int_equal(got.language, whole.language);
        if (size > 0) {
            assert_true(got.bytes < size && got.bytes + 4 >= size - 1);
            assert_int_equal(small[got.bytes], 0);
            assert_memory_equal(small, out, got.bytes);
            assert_true((out[got.bytes] & 0xc0) != 0x80);
        }
        free(small);
    }
}

TEST(test_every_cut_is_a_prefix)
{
    for (size_t i = 0; i < COUNT(cxx); i++)
        expect_prefixes(cxx[i].mangled);
    for (size_t i = 0; i < COUNT(rust); i++)
        expect_prefixes(rust[i].mangled);
    for (size_t i = 0; i < COUNT(ocaml); i++)
        expect_prefixes(ocaml[i].mangled);
    for (size_t i = 1; i < COUNT(others); i++) /* but for the empty one */
        expect_prefixes(others[i]);
    expect_prefixes("_Z10\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80yv");
}

/* A name that stops in its middle is none, or is shorter; never more. */
TEST(test_every_beginning_of_a_name_is_safe)
{
    for (size_t i = 0; i < COUNT(cxx); i++)
        for (size_t n = 0; n < strlen(cxx[i].mangled); n++) {
            char *name = strdup(cxx[i].mangled);

            name[n] = 0;
            name = realloc(name, n + 1);
            prof_demangle(name, out, sizeof out, &work);
            free(name);
        }
}

static char *repeated(const char *head, const char *middle, size_t times,
                      const char *tail)
{
    char *name =
        malloc(strlen(head) + times * strlen(middle) + strlen(tail) + 1);
    char *at = stpcpy(name, head);

    while (times-- > 0)
        at = stpcpy(at, middle);
    strcpy(at, tail);
    return name;
}

/* What does not fit into the workspace comes back as it is. */
TEST(test_depth_costs_workspace_and_never_stack)
{
    static const struct {
        const char *head, *middle, *tail;
    } deep[] = {
        {"_Z1f", "P", "i"},        {"_Z1f", "1AI", ""},
        {"_Z1f", "PFvPK", "i"},    {"_Z", "Z1fvE", "1x"},
        {"_Z1f", "N1A", "E"},      {"_Z1fDT", "plLi1E", ""},
        {"_ZN1A", "cvT_I", ""},    {"_Z1fI", "J", "E"},
        {"_RINvC1a1f", "R", "mE"}, {"_RINvC1a1f", "TT", "E"},
        {"_R", "IC1a", ""},        {"_R", "Nv", "C1a"},
        {"_RNvC1a", "B_", ""},     {"_Z1fI", "X", ""},
        {"_Z1fU1a", "U1a", "i"},   {"_ZZ1fvENKUl", "PFvZ1fvENKUl", "vE_"},
    };

    for (size_t i = 0; i < COUNT(deep); i++)
        for (size_t times = 10; times <= 100000; times *= 10) {
            char *name =
                repeated(deep[i].head, deep[i].middle, times, deep[i].tail);
            struct prof_demangled got =
                prof_demangle(name, out, sizeof out, &work);

            assert_true(got.steps <= PROF_DEMANGLE_STEPS(strlen(name)));
            if (got.language == PROF_LANGUAGE_NONE)
                assert_memory_equal(out, name, got.bytes);
            free(name);
        }
}

TEST(test_a_name_that_doubles_ends_with_its_budget)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    /* without and with second halves, and what each begins with */
    static const char *const begins[][2] = {
        {"_Z1fSt4pairIiiE", "f(std::pair<int, int>, std::pair<std::pair<"},
        {"_Z1fSt4pairIPFvvES1_E", "f(std::pair<void (*)(), void (*)()>, std::"},
    };
    static char again[65536];

    for (size_t k = 0; k < 2; k++) {
        char name[512];
        struct prof_demangled got;

        strcpy(name, begins[k][0]);
        for (size_t i = 2 * k; i < 30; i++)
            sprintf(name + strlen(name), "S_IS%c_S%c_E", digits[i], digits[i]);
        got = prof_demangle(name, out, sizeof out, &work);
        assert_true(got.truncated);
        assert_int_equal(got.steps, PROF_DEMANGLE_STEPS(strlen(name)));
        assert_memory_equal(out, begins[k][1], strlen(begins[k][1]));
        for (size_t size = 1; size < 5000; size += 7) {
            struct prof_demangled cut = prof_demangle(name, again, size, &work);

            assert_memory_equal(again, out, cut.bytes);
            assert_int_equal(cut.bytes, size - 1);
            assert_int_equal(cut.steps, got.steps);
        }
    }
}

TEST(test_the_workspace_keeps_nothing_between_calls)
{
    static char first[65536];

    for (size_t i = 0; i < COUNT(cxx); i++) {
        memset(&work, 0, sizeof work);
        prof_demangle(cxx[i].mangled, first, sizeof first, &work);
        memset(&work, 0xff, sizeof work);
        prof_demangle(cxx[i].mangled, out, sizeof out, &work);
        assert_string_equal(first, out);
    }
}
