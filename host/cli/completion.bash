# SPDX-License-Identifier: Apache-2.0
#
# bash completion for parasite. Options are those in --help.

_parasite_options()
{
    parasite "$1" --help 2>/dev/null |
        grep -oE -e '(^|[ ,])--?[a-zA-Z-]+' | tr -d ' ,' | sort -u
}

_parasite()
{
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    local commands choices

    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        commands=$(parasite --help | sed -n 's/^  \([a-z]*\)  .*/\1/p')
        mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$word")
        return
    fi
    case ${COMP_WORDS[1]}:$before in
    tell:stacks) choices='on off' ;;
    tell:loop) choices='reset report' ;;
    tell:causal) choices='start stop report target' ;;
    tell:trace) choices='on off dump' ;;
    record:-t | top:-t) choices='uart debugcon virtio serial shm' ;;
    top:-s)
        choices='self total name'
        case " ${COMP_WORDS[*]} " in
        *' --loop '*)
            choices='self total longest delay calls pending name'
            ;;
        esac
        ;;
    export:-f)
        choices='folded pprof perf firefox chrome perfetto callgrind'
        ;;
    report:-s) choices='symbol line task cpu' ;;
    tasks:-s) choices='waiting ready running count' ;;
    loop:-s)
        choices='self total longest delay wall calls pending name'
        ;;
    loop:--histogram) choices='run delay wall call' ;;
    fleet:-s) choices='self total' ;;
    annotate:-M) choices='intel att' ;;
    *:--weight) choices='samples time' ;;
    *:--color) choices='always never auto' ;;
    *)
        case $word in
        -*) choices=$(_parasite_options "${COMP_WORDS[1]}") ;;
        *)
            if [ "${COMP_WORDS[1]}" = tell ] && [ "$COMP_CWORD" -gt 2 ]; then
                choices='start stop rate depth stacks loop causal reset hello report'
            elif [ "$before" = fleet ] && [ "$COMP_CWORD" -eq 2 ]; then
                choices='list top flame diff odd push'
            fi
            ;;
        esac
        ;;
    esac
    if [ -n "$choices" ]; then
        mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$word")
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
    fi
}

complete -o filenames -F _parasite parasite
