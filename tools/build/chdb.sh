#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# chdb.sh VERSION OUT: fetches libchdb.so of the npm package of that version to
# OUT, as a whole or not at all.
set -eu

version=$1
out=$2
command -v npm >/dev/null || {
    echo "make store: npm is needed to fetch libchdb.so" >&2
    exit 1
}
mkdir -p "$out"
new=$(mktemp -d "$out/new.XXXXXX")
trap 'rm -rf "$new"' EXIT
echo "  FETCH   $out/libchdb.so: 166 MB, 559 unpacked"
(cd "$new" && npm pack --silent "@chdb/lib-linux-x64-gnu@$version" \
    >/dev/null) || {
    echo "make store: npm has no @chdb/lib-linux-x64-gnu@$version" >&2
    exit 1
}
tar -xzf "$new"/*.tgz -C "$new" package/libchdb.so
mv "$new/package/libchdb.so" "$out/libchdb.so"
