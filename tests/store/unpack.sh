#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# unpack.sh LIST OUT: downloads the packages of LIST and unpacks them to
# OUT/root. Installs nothing. Done once; OUT/unpacked says so. Fails if a
# package cannot be had, and says which.
set -eu

list=$1
out=$2
[ ! -e "$out/unpacked" ] || exit 0
rm -rf "$out/packages" "$out/root"
mkdir -p "$out/packages" "$out/root"
# shellcheck disable=SC2013 # words, not lines
for package in $(sed 's/#.*//' "$list"); do
    (cd "$out/packages" && apt-get -qq \
        -o Acquire::Retries=1 download "$package" 2>/dev/null) || {
        echo "no package $package"
        exit 1
    }
done
for package in "$out"/packages/*.deb; do
    dpkg -x "$package" "$out/root"
done
rm -r "$out/packages"
touch "$out/unpacked"
