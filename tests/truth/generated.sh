# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
#
# Generated programs (generated/programs names them) among the others that are
# judged; for the shell of this folder to read after judged.sh and lanes.sh.

: "${work:?}" "${here:?}" "${build:?}" "${parasite:?}"

# run_generated NAME WIDTH RATE: one of them; besides, the plugin must have
# counted what the generator claims
run_generated()
{
    program=$1
    run=$2-$1-$3
    elf=$build/$2/generated/$1/$1.elf
    check=$here/generated/check.py
    judged "$run" "$2" "$elf" "$3" || return 1
    run=$work/$run
    python3 "$check" claim "$elf" "$run.json" \
        "$build/generated/$program/claim.json" || return 1
    case $program in
    masked-*)
        # Shares are not where the instructions were: a judgement of its own.
        for test in ticks time chains; do
            python3 "$here/judge.py" "$test" "$run.compared" || return 1
        done
        rm "$run.compared"
        python3 "$check" masked "$elf" "$run.json" "$parasite" \
            "$run.trace" "$run.console"
        ;;
    *)
        python3 "$check" small "$elf" "$run.json" "$parasite" "$run.trace"
        ;;
    esac
}

# Queues those of generated/programs that are short, or all with FULL=1.
queue_generated()
{
    while read -r program rate length words; do
        case $program/$length/${FULL:-0} in
        [a-z]*/short/* | [a-z]*/long/1) ;;
        *) continue ;;
        esac
        for width in i386 x86_64; do
            # no two of them are sampled at the same times
            seed=$(printf %s "$width-$program-$rate" | cksum | cut -d ' ' -f 1)
            WORDS="prof.every=0 prof.seed=$seed $words"
            queue "$width: $program at $rate Hz is as it claims" \
                run_generated "$program" "$width" "$rate"
        done
    done <"$here/generated/programs"
    WORDS=
}
