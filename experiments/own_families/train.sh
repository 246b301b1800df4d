#!/bin/sh
# The networks that run.py and equal_cost.py measure: train.sh PROGRAM FOLDER [NAME...]
#
# NAME is one of those below; without one all are trained, which takes about half an hour of one core. All are
# deterministic: the same program gives the same bits.
set -eu
[ $# -ge 2 ] || { sed -n '2,5s/^# \{0,1\}//p' "$0"; exit 64; }
program=$1
folder=$2
shift 2
here=$(dirname "$0")
store=$here/../../examples/models/cold_store.bif
seen=thermometer,temperature_alarm,ice_seen,oil_light,gas_detector,noise,discharge_gauge,electricity_bill,claim
seen=$seen,outside_temperature
some=x1,x5,x9,x13,x17,x21,x25,x29,x33,x37
mkdir -p "$folder"
[ -e "$folder/fg40.uai" ] || "$program" generate factor-graphs-2 --n 40 --seed 77 --out "$folder/fg40.uai"

network() { # NAME EPISODES OPTION...
    name=$1
    episodes=$2
    shift 2
    case " $chosen " in *" $name "* | "  ") ;; *) return 0 ;; esac
    "$program" train --deterministic --seed 1 --episodes "$episodes" "$@" --out "$folder/$name"
}

chosen=$*
evidence="--model $folder/fg40.uai --evidence-variables $some"
ising="--family ising --n 5 --set coupling_normal=1"
long="--loss policy --samples 32 --replay 50000 --rate 0.001 --assess-every 0"
# shellcheck disable=SC2086 # several words each
{
    # of run.py
    network evidence-squared 400 $evidence --targets bounds
    network evidence 400 $evidence --targets bounds --loss policy
    network evidence-long 150 $evidence --targets exact $long --steps-per-episode 128
    network ising-squared 400 $ising --targets exact
    network ising 400 $ising --targets exact --loss policy
    # of equal_cost.py; run.py has the first too
    network ising-local 100 $ising --targets exact $long --steps-per-episode 128
    network ising-global 100 $ising --targets exact $long --steps-per-episode 128 --global-after 2
    network store 154 --model "$store" --evidence-variables $seen --targets exact $long --steps-per-episode 64 \
        --global-after 2
    network majority 250 --generator "$here/majority.py" --targets exact $long --steps-per-episode 64 --global-after 2
}
