#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# newlib.sh ARCH PREFIX: builds newlib's libc and libm for one width.
#
# The source is Debian's package newlib-source. Its newlib/ directory is
# configured by itself with the host's own compiler, made freestanding, so
# no cross compiler is needed. What comes out is PREFIX/include and
# PREFIX/lib/{libc,libm}.a; what was said on the way is in PREFIX/log.
set -eu

arch=$1
mkdir -p "$2"
prefix=$(cd "$2" && pwd)
work=$prefix/work

case $arch in
i386) target=i686-elf width='-m32 -march=i686' ;;
x86_64) target=x86_64-elf width=-m64 ;;
*)
    echo "newlib.sh: no such ARCH: $arch" >&2
    exit 2
    ;;
esac

archive=$(find /usr/src/newlib -name 'newlib-*.tar.xz' 2>/dev/null | tail -n 1)
if [ -z "$archive" ]; then
    echo "newlib.sh: /usr/src/newlib is empty: install newlib-source" >&2
    exit 1
fi

freestanding="-ffreestanding -fno-pic -fno-stack-protector -mno-red-zone"
freestanding="$freestanding -fno-omit-frame-pointer -U__linux__ -nostdinc"
include=$(gcc -print-file-name=include)

build()
{
    rm -rf "$work"
    mkdir -p "$work/build"
    tar -xJf "$archive" -C "$work" --strip-components=1
    cd "$work/build"
    ../newlib/configure --host="$target" --prefix="$prefix" \
        --disable-multilib --disable-newlib-supplied-syscalls \
        --disable-dependency-tracking --enable-newlib-io-long-long \
        --enable-newlib-io-c99-formats \
        CC="gcc $width $freestanding -isystem $include" \
        CFLAGS="-O2 -g1 -fno-optimize-sibling-calls" \
        AR=ar AS="gcc $width -c" RANLIB=ranlib NM=nm STRIP=strip \
        READELF=readelf OBJCOPY=objcopy
    make -j2 all
    mkdir -p "$prefix/lib"
    cp libc.a libm.a "$prefix/lib/"
    rm -rf "$prefix/include"
    cp -R ../newlib/libc/include "$prefix/include"
    cp newlib.h _newlib_version.h "$prefix/include/"
    cp -R targ-include/. "$prefix/include/"
    rm -rf "$work"
}

# one build at a time; the next one finds it done
exec 9>"$prefix/lock"
flock 9
[ -z "$(find "$prefix/lib/libc.a" -newer "$0" 2>/dev/null)" ] || exit 0

echo "newlib: building for $arch (about a minute, log in $2/log)"
failed()
{
    tail -n 20 "$prefix/log" >&2
    echo "newlib.sh: failed, all of it is in $prefix/log" >&2
}
trap '[ $? -eq 0 ] || failed' EXIT
build >"$prefix/log" 2>&1
