#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# run.sh FOLDER [PART]: the page that `parasite flame` writes, in Debian's
# Chromium without a window, driven by playwright-core, which npm fetches once.
# Pictures of what was seen stay in FOLDER. Prints TAP. PART is one of the
# *_test.js here.
set -u

here=$(cd "$(dirname "$0")" && pwd)
work=${1:?usage: run.sh FOLDER [PART]}
part=${2:-}
mkdir -p "$work"
work=$(cd "$work" && pwd)
cd "$here/../.." || exit 1
parasite=$work/../host/parasite
PLAYWRIGHT=playwright-core@1.65.1

modules=$work/../playwright
if ! [ -d "$modules/node_modules/playwright-core" ]; then
    mkdir -p "$modules"
    npm install --prefix "$modules" --no-audit --no-fund --no-save \
        --ignore-scripts "$PLAYWRIGHT" >"$work/npm.log" 2>&1 ||
        { cat "$work/npm.log"; exit 1; }
fi
NODE_PATH=$modules/node_modules
export NODE_PATH

tests/pages/names.sh "$work/image" || exit 1
for maker in tests/pages/make_profile.c tests/tool/make_stream.c; do
    gcc -std=gnu11 -O1 -Iprofiler/include -o "$work/$(basename "$maker" .c)" \
        "$maker" || exit 1
done
gcc -std=gnu11 -O1 -DNODES=102000u -Iprofiler/include -o "$work/make_large" \
    tests/tool/make_stream.c || exit 1

# recorded NAME OPTION...: a trace of make_profile
recorded()
{
    name=$1
    shift
    "$work/make_profile" "$@" >"$work/packets" &&
        rm -rf "$work/$name.trace" &&
        "$parasite" record -q -k "$work/image" -o "$work/$name.trace" \
            "$work/packets"
}

# drawn FILE OPTION...
drawn()
{
    file=$1
    shift
    "$parasite" flame -q -k "$work/image" -o "$work/$file" "$@" \
        2>>"$work/flame.log"
}

made=$work/made.trace
more=$work/more.trace
: >"$work/flame.log"
{
    recorded made && recorded more --more && recorded few --few &&
        recorded none --none &&
        drawn made.html "$made" && drawn few.html "$work/few.trace" &&
        drawn made.svg --svg "$made"
} || exit 1
for form in html svg; do
    option=
    [ "$form" = html ] || option=--svg
    # shellcheck disable=SC2086 # perhaps none
    {
        drawn "more.$form" $option --diff "$made" "$more" &&
            drawn "less.$form" $option --diff "$more" "$made" &&
            drawn "same.$form" $option --diff "$made" "$made"
    } || exit 1
done
bad=$(printf 'no\377 <UTF-8> &\001')
drawn bad.svg --svg --title "$bad" "$made" &&
    drawn bad.html --title "$bad" "$made" || exit 1
recorded deep --deep && drawn deep.html "$work/deep.trace" &&
    "$work/make_stream" 1 1 >"$work/one" && drawn one.html "$work/one" ||
    exit 1
drawn gone.html --diff "$made" "$work/none.trace" || exit 1
# 4,096 functions without names
seq 1 4096 | awk '{ printf "%x\n", 1048576 + 64 * $1 }' >"$work/addresses"
"$work/make_stream" 10000 1 "$work/addresses" >"$work/ten" &&
    drawn ten.html "$work/ten" &&
    "$work/make_large" 1000000 1 "$work/addresses" >"$work/large" &&
    "$parasite" flame -o "$work/large.html" "$work/large" \
        2>"$work/large.log" || exit 1


# over functions of other images: their languages and folders
seq 11 14 | awk '{ printf "%x\n", 1048576 + 64 * $1 }' >"$work/addresses"
"$work/make_stream" 2000 1 "$work/addresses" >"$work/tongues" &&
    drawn tongues.html "$work/tongues" || exit 1
for width in i386 x86_64; do
    image=$work/../$width/lua/lua.elf
    nm "$image" | awk '$2 ~ /[Tt]/ && $3 !~ /\./ { print $1 }' \
        >"$work/addresses"
    BUILD_ID=$(readelf -n "$image" | sed -n 's/.*Build ID: //p') \
        "$work/make_stream" 20000 1 "$work/addresses" >"$work/$width" &&
        "$parasite" flame -q -k "$image" -o "$work/$width.html" \
            "$work/$width" || exit 1
done

exec node tests/pages/all.js "$work" "$part"
