#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# chdb.sh VERSION INTEGRITY OUT: fetches libchdb.so of the npm package of that
# version to OUT, as a whole or not at all, unless it is there: OUT/version says
# so. INTEGRITY is npm's of the package, "sha512-...": other bytes are refused.
set -eu

version=$1
integrity=$2
out=$3
if [ -e "$out/libchdb.so" ] && [ "$(cat "$out/version" 2>&1)" = "$version" ]
then
    exit 0
fi
fail() {
    echo "make store: $1" >&2
    exit 1
}
command -v npm >/dev/null || fail "npm is needed to fetch libchdb.so"
mkdir -p "$out"
new=$(mktemp -d "$out/new.XXXXXX")
trap 'rm -rf "$new"' EXIT
package=@chdb/lib-linux-x64-gnu@$version
echo "  FETCH   $out/libchdb.so: 166 MB, 559 unpacked"
(cd "$new" && npm pack --silent --fetch-retries=1 "$package" >/dev/null 2>&1) ||
    fail "$package cannot be had from npm"
found=sha512-$(openssl dgst -sha512 -binary "$new"/*.tgz | base64 -w 0)
[ "$found" = "$integrity" ] ||
    fail "$package is not what it was: $found, not $integrity"
tar -xzf "$new"/*.tgz -C "$new" package/libchdb.so
mv "$new/package/libchdb.so" "$out/libchdb.so"
echo "$version" >"$out/version"
