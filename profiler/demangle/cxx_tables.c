/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of the ABI's one- and two-letter codes. All strings are arrays of
 * fixed width: without pointers the tables need no relocations.
 */

#include "demangle/cxx.h"

/* clang-format off */
#define TEXT_BYTES(text) (sizeof(text) - 1)
#define B(name, print, suffix) {name, TEXT_BYTES(name), print, suffix}

/* 5.1.5.2 Builtin types: 'a' to 'z' first, then those that 'D' introduces. */
const struct cxx_builtin cxx_builtins[] = {
    B("signed char", CXX_AS_CAST, ""),          /* a */
    B("bool", CXX_AS_BOOL, ""),
    B("char", CXX_AS_CAST, ""),
    B("double", CXX_AS_FLOAT, ""),
    B("long double", CXX_AS_FLOAT, ""),
    B("float", CXX_AS_FLOAT, ""),
    B("__float128", CXX_AS_FLOAT, ""),
    B("unsigned char", CXX_AS_CAST, ""),
    B("int", CXX_AS_INT, ""),
    B("unsigned int", CXX_AS_INT, "u"),         /* j */
    B("", 0, ""),
    B("long", CXX_AS_INT, "l"),
    B("unsigned long", CXX_AS_INT, "ul"),
    B("__int128", CXX_AS_CAST, ""),             /* n */
    B("unsigned __int128", CXX_AS_CAST, ""),
    B("", 0, ""), B("", 0, ""), B("", 0, ""),
    B("short", CXX_AS_CAST, ""),                /* s */
    B("unsigned short", CXX_AS_CAST, ""),
    B("", 0, ""),
    B("void", CXX_AS_CAST, ""),                 /* v */
    B("wchar_t", CXX_AS_CAST, ""),
    B("long long", CXX_AS_INT, "ll"),
    B("unsigned long long", CXX_AS_INT, "ull"), /* y */
    B("...", CXX_AS_CAST, ""),
    B("auto", CXX_AS_CAST, ""),                 /* Da: 26 */
    B("decltype(auto)", CXX_AS_CAST, ""),       /* Dc */
    B("decimal64", CXX_AS_CAST, ""),            /* Dd */
    B("decimal128", CXX_AS_CAST, ""),           /* De */
    B("decimal32", CXX_AS_CAST, ""),            /* Df */
    B("half", CXX_AS_FLOAT, ""),                /* Dh */
    B("char32_t", CXX_AS_CAST, ""),             /* Di */
    B("decltype(nullptr)", CXX_AS_CAST, ""),    /* Dn */
    B("char16_t", CXX_AS_CAST, ""),             /* Ds */
    B("char8_t", CXX_AS_CAST, ""),              /* Du */
};

static const char after_d[] = "acdefhinsu";

uint32_t cxx_builtin_d(char letter)
{
    for (uint32_t i = 0; after_d[i] != 0; i++)
        if (after_d[i] == letter)
            return 26 + i;
    return 0xffff;
}

/* 5.1.4.1 Operator encodings. The second number is how loosely it binds for
 * LLVM: 0 primary, 1 postfix, 2 unary, 4 .* and ->*, 5 to 18 binary, 19 always
 * in parentheses. */
const struct cxx_op cxx_ops[] = {
    {"aN", CXX_OP_ASSIGN, 17, false, "&="},
    {"aS", CXX_OP_ASSIGN, 17, false, "="},
    {"aa", CXX_OP_BINARY, 14, false, "&&"},
    {"ad", CXX_OP_ADDRESS, 2, false, "&"},
    {"an", CXX_OP_BINARY, 11, false, "&"},
    {"at", CXX_OP_OF_TYPE, 2, false, "alignof "},
    {"aw", CXX_OP_UNARY, 2, false, "co_await "},
    {"az", CXX_OP_OF_EXPR, 2, false, "alignof "},
    {"cc", CXX_OP_CAST, 1, false, "const_cast"},
    {"cl", CXX_OP_CALL, 1, false, "()"},
    {"cm", CXX_OP_BINARY, 18, false, ","},
    {"co", CXX_OP_UNARY, 2, false, "~"},
    {"dV", CXX_OP_ASSIGN, 17, false, "/="},
    {"dX", CXX_OP_RANGE, 17, false, "[...]="},
    {"da", CXX_OP_UNARY, 2, false, "delete[] "},
    {"dc", CXX_OP_CAST, 1, false, "dynamic_cast"},
    {"de", CXX_OP_UNARY, 2, false, "*"},
    {"di", CXX_OP_FIELD, 17, false, "="},
    {"dl", CXX_OP_UNARY, 2, false, "delete "},
    {"ds", CXX_OP_BINARY, 4, false, ".*"},
    {"dt", CXX_OP_MEMBER, 1, false, "."},
    {"dv", CXX_OP_BINARY, 5, false, "/"},
    {"dx", CXX_OP_AT, 17, false, "]="},
    {"eO", CXX_OP_ASSIGN, 17, false, "^="},
    {"eo", CXX_OP_BINARY, 12, false, "^"},
    {"eq", CXX_OP_BINARY, 10, false, "=="},
    {"fL", CXX_OP_FOLD, 0, false, "..."},
    {"fR", CXX_OP_FOLD, 0, false, "..."},
    {"fl", CXX_OP_FOLD, 0, false, "..."},
    {"fr", CXX_OP_FOLD, 0, false, "..."},
    {"ge", CXX_OP_BINARY, 9, false, ">="},
    {"gs", CXX_OP_GLOBAL, 0, false, "::"},
    {"gt", CXX_OP_GREATER, 9, false, ">"},
    {"ix", CXX_OP_INDEX, 1, false, "[]"},
    {"lS", CXX_OP_ASSIGN, 17, false, "<<="},
    {"le", CXX_OP_BINARY, 9, false, "<="},
    {"li", CXX_OP_NAME_ONLY, 0, false, "\"\""},
    {"ls", CXX_OP_BINARY, 7, false, "<<"},
    {"lt", CXX_OP_BINARY, 9, false, "<"},
    {"mI", CXX_OP_ASSIGN, 17, false, "-="},
    {"mL", CXX_OP_ASSIGN, 17, false, "*="},
    {"mi", CXX_OP_BINARY, 6, false, "-"},
    {"ml", CXX_OP_BINARY, 5, false, "*"},
    {"mm", CXX_OP_STEP, 1, false, "--"},
    {"na", CXX_OP_NEW, 2, false, "new[]"},
    {"ne", CXX_OP_BINARY, 10, false, "!="},
    {"ng", CXX_OP_UNARY, 2, false, "-"},
    {"nt", CXX_OP_UNARY, 2, false, "!"},
    {"nw", CXX_OP_NEW, 2, false, "new"},
    {"nx", CXX_OP_NOEXCEPT, 2, true, "noexcept"},
    {"oR", CXX_OP_ASSIGN, 17, false, "|="},
    {"oo", CXX_OP_BINARY, 15, false, "||"},
    {"or", CXX_OP_BINARY, 13, false, "|"},
    {"pL", CXX_OP_ASSIGN, 17, false, "+="},
    {"pl", CXX_OP_BINARY, 6, false, "+"},
    {"pm", CXX_OP_BINARY, 4, false, "->*"},
    {"pp", CXX_OP_STEP, 1, false, "++"},
    {"ps", CXX_OP_UNARY, 2, false, "+"},
    {"pt", CXX_OP_MEMBER, 1, false, "->"},
    {"qu", CXX_OP_CONDITIONAL, 16, false, "?"},
    {"rM", CXX_OP_ASSIGN, 17, false, "%="},
    {"rS", CXX_OP_ASSIGN, 17, false, ">>="},
    {"rc", CXX_OP_CAST, 1, false, "reinterpret_cast"},
    {"rm", CXX_OP_BINARY, 5, false, "%"},
    {"rs", CXX_OP_BINARY, 7, false, ">>"},
    {"sP", CXX_OP_SIZEOF_ARGS, 2, false, "sizeof..."},
    {"sZ", CXX_OP_SIZEOF_PACK, 2, false, "sizeof..."},
    {"sc", CXX_OP_CAST, 1, false, "static_cast"},
    {"ss", CXX_OP_BINARY, 8, false, "<=>"},
    {"st", CXX_OP_SIZEOF_TYPE, 2, false, "sizeof "},
    {"sz", CXX_OP_OF_EXPR, 2, false, "sizeof "},
    {"te", CXX_OP_OF_EXPR, 1, true, "typeid "},
    {"ti", CXX_OP_OF_TYPE, 1, true, "typeid "},
    {"tr", CXX_OP_NULLARY, 19, false, "throw"},
    {"tw", CXX_OP_UNARY, 19, false, "throw "},
};

_Static_assert(sizeof cxx_ops / sizeof cxx_ops[0] == CXX_OPS,
               "as many as are looked through");

/* 5.1.10 Compression: the abbreviations of the standard library. */
#define STD(code, name, base, full) \
    {code, name, base, full, TEXT_BYTES(name), TEXT_BYTES(base), \
     TEXT_BYTES(full)}
const struct cxx_std cxx_std[] = {
    STD('a', "std::allocator", "allocator", "std::allocator"),
    STD('b', "std::basic_string", "basic_string", "std::basic_string"),
    STD('s', "std::string", "basic_string",
        "std::basic_string<char, std::char_traits<char>, "
        "std::allocator<char> >"),
    STD('i', "std::istream", "basic_istream",
        "std::basic_istream<char, std::char_traits<char> >"),
    STD('o', "std::ostream", "basic_ostream",
        "std::basic_ostream<char, std::char_traits<char> >"),
    STD('d', "std::iostream", "basic_iostream",
        "std::basic_iostream<char, std::char_traits<char> >"),
};

_Static_assert(sizeof cxx_std / sizeof cxx_std[0] == CXX_STD_COUNT,
               "as many as are looked through");

/* 5.1.4.4 Virtual tables and other special names. */
const struct cxx_special cxx_specials[] = {
    {"TV", CXX_THEN_TYPE, "vtable for %a"},
    {"TT", CXX_THEN_TYPE, "VTT for %a"},
    {"TI", CXX_THEN_TYPE, "typeinfo for %a"},
    {"TS", CXX_THEN_TYPE, "typeinfo name for %a"},
    {"TF", CXX_THEN_TYPE, "typeinfo fn for %a"},
    {"TJ", CXX_THEN_TYPE, "java Class for %a"},
    {"TA", CXX_THEN_ARG, "template parameter object for %a"},
    {"TH", CXX_THEN_NAME, "TLS init function for %a"},
    {"TW", CXX_THEN_NAME, "TLS wrapper function for %a"},
    {"Th", CXX_THEN_OFFSET, "non-virtual thunk to %a"},
    {"Tv", CXX_THEN_OFFSET, "virtual thunk to %a"},
    {"Tc", CXX_THEN_OFFSETS, "covariant return thunk to %a"},
    {"TC", CXX_THEN_TYPES, "construction vtable for %a-in-%b"},
    {"GV", CXX_THEN_NAME, "guard variable for %a"},
    {"GR", CXX_THEN_TEMPORARY, "reference temporary #%a for %b"},
    {"GA", CXX_THEN_ENCODING, "hidden alias for %a"},
    {"GI", CXX_THEN_MODULE, "initializer for module %a"},
    {"GT", CXX_THEN_CLONE, "transaction clone for %a"},
    {"G ", CXX_THEN_CLONE, "non-transaction clone for %a"},
    {"Gr", CXX_THEN_RESOURCE, "java resource %a"},
    /* CXX_S_...: */
    {"  ", 0, "reference temporary for %a"},
    {"  ", 0, "invocation function for block in %a"},
    {"  ", 0, "global constructors keyed to %a"},
    {"  ", 0, "global destructors keyed to %a"},
};

#define W(text) {text, TEXT_BYTES(text)}
const struct cxx_word cxx_words[] = {
    W("std"),
    W("(anonymous namespace)"),
    W("string literal"),
    W("..."),
    W("0"),
    W("this"),
};
/* clang-format on */

uint32_t cxx_find(const char *code, const void *table, size_t row,
                  uint32_t rows)
{
    const char *at = table;
    uint32_t i = 0;

    for (; i < rows && (at[0] != code[0] || at[1] != code[1]); i++)
        at += row;
    return i;
}
