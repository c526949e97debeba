#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# names.sh BUILD: the cost of demangling compared with other libraries, on the
# same names in one run, and the size of the demangler. The names are those of
# installed libraries and of the lists in tests/names; Rust v0 has only the
# lists if rustup is not installed. Writes lines of JSON to
# BUILD/bench/names.jsonl and prints them.
set -eu

build=${1:?usage: names.sh BUILD}
results=$build/bench/names.jsonl
work=$build/bench/names
lib=/usr/lib/x86_64-linux-gnu
mkdir -p "$work"
# shellcheck source=bench/lines.sh
. bench/lines.sh

sources=$(printf '%s ' profiler/demangle/*.c)

# named LIBRARY...: their exported names
named() {
    for library; do
        [ ! -r "$library" ] || nm -D --without-symbol-versions "$library"
    done | awk '{ print $NF }' | sort -u
}

# One name of the lists binds a quarter of a million lifetimes, for which others
# need 10 ms. It would distort a mean, and is excluded.
corpora() {
    named "$lib/libstdc++.so.6" "$lib/libclang-cpp.so.14" \
        "$lib/libLLVM-14.so.1" | grep '^_Z' >"$work/cxx"
    named "$lib"/librustc_driver-*.so "$lib"/libstd-*.so "$lib"/libtest-*.so |
        grep '^_ZN.*17h[0-9a-f]\{16\}E$' >"$work/legacy"
    {
        named "$HOME"/.rustup/toolchains/stable-*/lib/librustc_driver-*.so
        tar -xJOf /usr/src/binutils/binutils-*.tar.xz --wildcards \
            '*/libiberty/testsuite/rust-demangle-expected'
        grep -oh '_R[A-Z][A-Za-z0-9_.]*' \
            /usr/share/cargo/registry/rustc-demangle-*/src/*.rs
    } | grep '^_R[A-Z]' | grep -v 'FG[0-9A-Za-z]\{2,\}_' | sort -u >"$work/v0"
}

measure() {
    # shellcheck disable=SC2086 # a list of words
    gcc -std=gnu11 -O2 -Iprofiler -Iprofiler/include \
        -o "$work/bench" bench/names*.c \
        $sources
    "$work/bench" cxx "$work/cxx" legacy "$work/legacy" v0 "$work/v0" \
        >"$results"
}

# size_of WIDTH: bytes of code, and of code and tables, at -Os
size_of() {
    width=$1
    mkdir -p "$work/$width"
    flags=$(small_flags "$width")
    for source in $sources; do
        # shellcheck disable=SC2086 # a list of words
        gcc $flags -Os -Iprofiler -Iprofiler/include \
            -c -o "$work/$width/$(basename "$source").o" "$source"
    done
    size -A "$work/$width"/*.o | awk '
        /^\.text/ { code += $2 }
        /^\.rodata/ { tables += $2 }
        END { print code, code + tables }' >"$work/$width/sizes"
    read -r code whole <"$work/$width/sizes"
    keep "$width" demangler_code "$code" bytes
    keep "$width" demangler_and_tables "$whole" bytes
}

# instructions LANGUAGE ENGINE FUNCTION: the mean per name; ours comes first
instructions() {
    all=$(counted "$3" "$work/bench" "--count=$2" "$1" "$work/$1")
    each=$(ratio "$all" "$(wc -l <"$work/$1")")
    keep host "demangle_instructions_$1_$2" "$each" instructions
    if [ "$2" = ours ]; then
        ours=$each
    else
        keep host "demangle_work_$1_$2" "$(ratio "$each" "$ours")" \
            ratio
    fi
}

corpora
measure
instructions cxx ours run_ours
instructions cxx libiberty run_iberty_cxx
instructions cxx libcxxabi run_cxxabi
instructions cxx llvm run_llvm_cxx
instructions legacy ours run_ours
instructions legacy libiberty run_iberty_rust
instructions v0 ours run_ours
instructions v0 libiberty run_iberty_rust
instructions v0 llvm run_llvm_rust
size_of i386
size_of x86_64
cat "$results"
