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
    [ -n "$name" ] || {
        echo "no package $package"
        exit 1
    }
    echo "$name" >&3
done 3>"$out/names"
names=$(cat "$out/names")
download()
{
    (cd "$out/packages" && apt-get -qq -o Acquire::Retries=1 download "$@" \
        2>/dev/null)
}
# together, for apt-get reads all of its lists each time; if that fails, alone
# to see which is missing
# shellcheck disable=SC2086 # names
if ! download $names; then
    for name in $names; do
        download "$name" || {
            echo "no package $name"
            exit 1
        }
    done
fi
for package in "$out"/packages/*.deb; do
    dpkg -x "$package" "$out/root"
done
# links to what would be installed lead to what is unpacked
find "$out/root" -type l -lname '/*' | while read -r link; do
    target=$out/root$(readlink "$link")
    [ ! -e "$target" ] || ln -sfrn "$target" "$link"
done
rm -r "$out/packages" "$out/names"
touch "$out/unpacked"
