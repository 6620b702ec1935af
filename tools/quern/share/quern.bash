# SPDX-License-Identifier: BSL-1.0
# Completion of the command quern for bash: its subcommands, their options, and files and programs behind them.

_quern_options() {
    case $1 in
        info) echo --help --json --binding --workers --root ;;
        top) echo --help --interval --once --json ;;
        tasks) echo --help ;;
        decisions) echo --help --json ;;
        counters) echo --help --interval --count --since-last --format ;;
        run) echo --help --ranks --mpi --net --openmp --threads --policy --bind --counters --interval --format --destination --profile --trace --report \
            --task-events --trace-counters --metrics-port --adapt --decisions --tune-history --calibrate ;;
        trace) echo --help --output --html --partial ;;
        tune) echo --help --integer --size --power-of-two --real --choice --strategy --repetitions --pairs --trials --seed --time \
            --timeout --cut --csv --json ;;
        grain) echo --help --from --to --per-decade --values --repetitions --workers --time --timeout --quick --csv --json --html ;;
        cc | c++) echo --help --keep --compiler --mpi --verbose ;;
        *) echo --help --version ;;
    esac
}

_quern() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} subcommand=${COMP_WORDS[1]} i
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; ++i)); do
        if [[ ${COMP_WORDS[i]} == -- ]]; then
            if ((i == COMP_CWORD - 1)); then
                mapfile -t COMPREPLY < <(compgen -c -f -- "$word")
            else
                mapfile -t COMPREPLY < <(compgen -f -- "$word")
            fi
            return
        fi
    done
    case $before in
        --mpi)
            mapfile -t COMPREPLY < <(compgen -W "mpich openmpi" -- "$word")
            return ;;
        --adapt)
            mapfile -t COMPREPLY < <(compgen -W "off dry-run on" -- "$word")
            return ;;
        --destination | --output | --profile | --trace | --report | --decisions | --tune-history | --csv | --html | --root)
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
            return ;;
        --format)
            mapfile -t COMPREPLY < <(compgen -W "text csv csv-short json openmetrics" -- "$word")
            return ;;
        --strategy)
            mapfile -t COMPREPLY < <(compgen -W "exhaustive random hill-climbing nelder-mead parallel-rank-order simulated-annealing" -- "$word")
            return ;;
        --policy)
            mapfile -t COMPREPLY < <(compgen -W "work-stealing priority-local-fifo priority-local-lifo sherwood nemesis static" -- "$word")
            return ;;
        --bind | --binding)
            mapfile -t COMPREPLY < <(compgen -W "none compact scatter balanced numa-balanced" -- "$word")
            return ;;
    esac
    if ((COMP_CWORD == 1)); then
        mapfile -t COMPREPLY < <(compgen -W "info top tasks counters decisions run trace tune grain cc c++ $(_quern_options)" -- "$word")
    elif [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_quern_options "$subcommand")" -- "$word")
    elif [[ $subcommand == counters && COMP_CWORD -eq 2 ]]; then
        mapfile -t COMPREPLY < <(compgen -W "list describe read" -- "$word")
    elif [[ $subcommand == cc || $subcommand == c++ ]]; then
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
    elif [[ $subcommand == trace && COMP_CWORD -eq 2 ]]; then
        mapfile -t COMPREPLY < <(compgen -W "merge" -- "$word")
    elif [[ $subcommand == trace ]]; then
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
    fi
}

complete -F _quern quern
