#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# unpack.sh LIST OUT: downloads the Debian packages of LIST and unpacks them to
# OUT/root. Installs nothing. Done once; OUT/unpacked says so. Fails if a
# package cannot be had, and says which.
#
# A line of LIST is a package, or "META depends PREFIX": the package of that
# prefix that META depends on, such as a kernel without its version.
set -eu

list=$1
out=$2
[ ! -e "$out/unpacked" ] || exit 0
rm -rf "$out/packages" "$out/root"
mkdir -p "$out/packages" "$out/root"
sed 's/#.*//' "$list" | while read -r package _ prefix; do
    [ -n "$package" ] || continue
    name=$package
    if [ -n "$prefix" ]; then
        name=$(apt-cache depends "$package" |
            sed -n "s/.*Depends: \(${prefix}[^ ]*\)/\1/p" | head -n 1)
    fi
    (cd "$out/packages" && [ -n "$name" ] && apt-get -qq \
        -o Acquire::Retries=1 download "$name" </dev/null 2>/dev/null) || {
        echo "no package ${name:-$package}"
        exit 1
    }
done
for package in "$out"/packages/*.deb; do
    dpkg -x "$package" "$out/root"
done
# links to what would be installed lead to what is unpacked
find "$out/root" -type l -lname '/*' | while read -r link; do
    target=$out/root$(readlink "$link")
    [ ! -e "$target" ] || ln -sfrn "$target" "$link"
done
rm -r "$out/packages"
touch "$out/unpacked"
