#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# run.sh BUILD [PATTERN]: runs all tests whose name fits the shell pattern and
# ends with the line "N passed, N failed". Two jobs run at a time (LANES=N):
# most of them wait for guests. Everything speaks TAP:
#
#   BUILD/host{32,64}/*_test   unit tests, under sanitizers
#   tests/*/run.sh FOLDER      whatever needs a script, as the models do
#   tests/guest/NAME/          an image that boots, at each width and loader
#
# Files in tests/guest/NAME that are not sources say how it is run:
#
#   append   its command line
#   initrd   its boot module, and initrd2 a second one
#   image    whose image it is, where it has no sources: "split" for a
#            service's, "test/NAME" for another test's
#   qemu     more arguments for QEMU
#   limit    seconds it may take (60)
#   boots    loaders, "kernel grub" being the default; "i386:kernel" is one
#            for one width only
#   expect   for an image that ends otherwise than with 0 and a full TAP plan:
#            its exit code, and in further lines regular expressions that its
#            output must match, or must not match where they begin with "!"
set -u

build=$1
pattern=${2:-*}
guest=tests/guest

fits()
{
    # shellcheck disable=SC2254 # it is a pattern
    case $1 in
    $pattern) return 0 ;;
    esac
    return 1
}

# verdict WHAT LOG PASSED FAILED: counts, and shows what went wrong, or what
# was measured
verdict()
{
    echo "$3 $4" >>"$counted"
    if [ "$4" -eq 0 ]; then
        echo "ok      $1 ($3)"
        sed -n 's/^# measured: /        /p' "$2"
    else
        echo "FAILED  $1 ($4 of $(($3 + $4))), $2:"
        tail -n 40 "$2" | sed 's/^/        /'
    fi
}

# counts LOG: prints how many tests passed and failed. A plan that was not kept
# counts as one failure, and so does a log without any test.
counts()
{
    tr -d '\r' <"$1" | awk '
        /^ok /     { good++ }
        /^not ok / { bad++ }
        /^1\.\.[0-9]+$/ { plan += substr($0, 4); planned = 1 }
        END {
            if (!planned || good + bad != plan || good + bad == 0)
                bad++
            print good + 0, bad + 0
        }'
}

# tap WHAT LOG STATUS: a program that should have ended with 0
tap()
{
    # shellcheck disable=SC2046 # two numbers
    set -- "$1" "$2" "$3" $(counts "$2")
    if [ "$3" -ne 0 ] && [ "$5" -eq 0 ]; then
        echo "# ended with status $3" >>"$2"
        set -- "$1" "$2" "$3" "$4" 1
    fi
    verdict "$1" "$2" "$4" "$5"
}

unit_tests()
{
    for test in "$build"/host32/*_test "$build"/host64/*_test; do
        name=$(basename "$test")
        if ! [ -x "$test" ] || ! fits "$name"; then
            continue
        fi
        status=0
        CMOCKA_MESSAGE_OUTPUT=TAP EMBED=$build/host/embed \
            timeout 300 "$test" >"$test.log" 2>&1 </dev/null || status=$?
        tap "$(basename "$(dirname "$test")") $name" "$test.log" "$status"
    done
}

# script_test FOLDER
script_test()
{
    mkdir -p "$build/$1"
    status=0
    timeout 1800 "tests/$1/run.sh" "$build/$1" >"$build/$1/log" 2>&1 \
        </dev/null || status=$?
    tap "$1" "$build/$1/log" "$status"
}

# word NAME FILE DEFAULT: what tests/guest/NAME/FILE says, as one line
word()
{
    if [ -r "$guest/$1/$2" ]; then
        tr '\n' ' ' <"$guest/$1/$2" | sed 's/ *$//'
    else
        printf '%s' "$3"
    fi
}

# expected NAME LOG STATUS: whether the image ended as its file expect says;
# what is missing is added to the log
expected()
{
    wanted=$(sed -n 1p "$guest/$1/expect")
    fine=0
    missing=
    if [ "$3" -ne "$wanted" ]; then
        echo "# exit code $3 instead of $wanted" >>"$2"
        fine=1
    fi
    while IFS= read -r line; do
        if [ "${line#!}" != "$line" ]; then
            ! grep -qE -e "${line#!}" "$2" && continue
        else
            grep -qE -e "$line" "$2" && continue
        fi
        missing="$missing
# expected: $line"
        fine=1
    done <<LINES
$(sed 1d "$guest/$1/expect" | grep .)
LINES
    [ -z "$missing" ] || echo "$missing" >>"$2"
    return $fine
}

# one_guest WIDTH LOADER NAME
one_guest()
{
    image=$(word "$3" image '')
    if [ -n "$image" ]; then
        image=$build/$1/$image/$(basename "$image").elf
    else
        image=$build/$1/test/$3/$3.elf
    fi
    log=$build/$1/test/$3.$2.log
    mkdir -p "$(dirname "$log")"
    initrd=$guest/$3/initrd
    [ -r "$initrd" ] || initrd=
    [ ! -r "$guest/$3/initrd2" ] || initrd=$initrd,$guest/$3/initrd2
    status=0
    ARCH=$1 LOADER=$2 ACCEL=tcg MEM=128 QUIET=1 INITRD=$initrd \
        LIMIT=$(word "$3" limit 60) APPEND=$(word "$3" append '') \
        QEMU_ARGS=$(word "$3" qemu '') \
        tools/build/run.sh "$image" </dev/null >"$log.raw" 2>&1 || status=$?
    tr -d '\r' <"$log.raw" >"$log"
    rm "$log.raw"
    what="guest $1 $2 $3"
    if [ ! -r "$guest/$3/expect" ]; then
        tap "$what" "$log" "$status"
    elif expected "$3" "$log" "$status"; then
        verdict "$what" "$log" 1 0
    else
        verdict "$what" "$log" 0 1
    fi
}

guest_tests()
{
    for folder in "$guest"/*/; do
        name=$(basename "$folder")
        if ! [ -d "$folder" ] || ! fits "$name"; then
            continue
        fi
        for width in i386 x86_64; do
            for boot in $(word "$name" boots 'kernel grub'); do
                case $boot in
                "$width":*) one_guest "$width" "${boot#*:}" "$name" ;;
                *:*) ;;
                *) one_guest "$width" "$boot" "$name" ;;
                esac
            done
        done
    done
}

# What may run beside each other, a line each. Guests share images of disks, and
# so are one job; it takes long, and comes first.
jobs()
{
    echo guest_tests
    echo unit_tests
    for script in tests/*/run.sh; do
        folder=$(basename "$(dirname "$script")")
        if [ -x "$script" ] && fits "$folder"; then
            echo "script_test $folder"
        fi
    done
}

# A job is this script again, with the job's words behind its own. It shows all
# that it has to say at once, and leaves its counts.
if [ $# -gt 2 ]; then
    shift 2
    said=$("$@")
    [ -z "$said" ] || printf '%s\n' "$said"
    exit
fi

counted=$build/counted
export counted
: >"$counted"
jobs | xargs -P "${LANES:-2}" -L 1 "$0" "$build" "$pattern"
awk '{ passed += $1; failed += $2 }
    END {
        printf "%d passed, %d failed\n", passed, failed
        exit failed > 0 || passed == 0
    }' "$counted"
