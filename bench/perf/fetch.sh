#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# fetch.sh FOLDER: what the Linux guest is made of that this machine need not
# have installed: Debian's present cloud kernel as FOLDER/vmlinuz, what its
# modules are built with as FOLDER/headers, and Debian's static busybox as
# FOLDER/busybox. Done once; FOLDER/.fetched says so, and which.
#
# The machine's package lists serve where they are fresh. Where they are not, or
# are missing, apt reads them anew to a place of its own: its state here stays
# as it is. apt verifies what it fetches.
set -eu

folder=${1:?usage: fetch.sh FOLDER}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
[ ! -e "$folder/.fetched" ] || exit 0

fail()
{
    [ ! -s "$folder/log" ] || tail -n 5 "$folder/log" >&2
    echo "fetch.sh: no $1; is there a network? (log: $folder/log)" >&2
    exit 1
}

# apt TOOL WORDS...: with the lists of its own once they are there
apt()
{
    tool=$1
    shift
    if [ -d "$folder/state" ]; then
        set -- -o Dir::State="$folder/state" -o Dir::Cache="$folder/cache" \
            -o Dir::State::status=/var/lib/dpkg/status "$@"
    fi
    "$tool" -q -o APT::Sandbox::User=root "$@" 2>>"$folder/log"
}

# The package that the name without a version depends on.
kernel()
{
    apt apt-cache depends linux-image-cloud-amd64 |
        sed -n 's/^ *Depends: \(linux-image-[^ ]*\)$/\1/p' | head -n 1
}

# download PACKAGE: to FOLDER/PACKAGE.deb
download()
{
    rm -rf "$folder/new"
    mkdir "$folder/new"
    (cd "$folder/new" && apt apt-get download "$1" >>"$folder/log") &&
        mv "$folder/new"/*.deb "$folder/$1.deb" && rmdir "$folder/new"
}

# The packages that the headers of the kernel (image) consist of.
headers()
{
    echo "linux-headers-${image#linux-image-}"
    apt apt-cache depends "linux-headers-${image#linux-image-}" |
        sed -n 's/^ *Depends: \(linux-\(headers\|kbuild\)-[^ ]*\)$/\1/p'
}

all()
{
    image=$(kernel) && [ -n "$image" ] && download "$image" &&
        download busybox-static || return 1
    for package in $(headers); do
        download "$package" || return 1
    done
}

: >"$folder/log"
if ! all; then
    mkdir -p "$folder/state/lists/partial" "$folder/cache/archives/partial"
    apt apt-get update >>"$folder/log" || fail 'package lists'
    all || fail 'linux-image-cloud-amd64, its headers or busybox-static'
fi
# take PACKAGE PATTERN FILE: one file out of a package
take()
{
    dpkg --fsys-tarfile "$folder/$1.deb" |
        tar -x -O --wildcards "$2" >"$folder/$3"
    [ -s "$folder/$3" ] || fail "$2 in $1"
    rm "$folder/$1.deb"
}

take "$image" './boot/vmlinuz-*' vmlinuz
take busybox-static ./bin/busybox busybox
chmod +x "$folder/busybox"

# The headers' own makefile includes the common one by its absolute path.
rm -rf "$folder/unpacked"
for package in $(headers); do
    dpkg -x "$folder/$package.deb" "$folder/unpacked"
    rm "$folder/$package.deb"
done
source=$folder/unpacked/usr/src
sed -i "s| /usr/src/| $source/|" \
    "$source/linux-headers-${image#linux-image-}/Makefile"
ln -sfn "unpacked/usr/src/linux-headers-${image#linux-image-}" \
    "$folder/headers"
echo "$image" >"$folder/.fetched"
