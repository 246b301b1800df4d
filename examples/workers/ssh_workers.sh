#!/bin/bash
# Starts workers of a run on other hosts by ssh. They reach the server through the same connection, because it listens
# only on this machine.
#   ssh_workers.sh MODEL RUN HOST...
# RUN.password and RUN.key are on this machine; the two secrets are sent through ssh. The model and treesample are on
# the hosts, where the model's path is MODEL. SSH may contain options, as in SSH="ssh -p 2222". PORT is the port of the
# server; WORKERS is the number of programs that each host runs at a time. The script ends when all workers have ended;
# Ctrl-C ends them.
set -eu
model=$1 run=$2
shift 2
port=${PORT:-6379}
for host in "$@"; do
  {
    # Each is one line: base64, or any text without line ends.
    cat "$run.password" "$run.key"
  } | ${SSH:-ssh} -o ExitOnForwardFailure=yes -R "127.0.0.1:${REMOTE_PORT:-16379}:127.0.0.1:$port" "$host" "
    umask 077; folder=\$(mktemp -d); trap 'rm -rf \$folder' EXIT
    IFS= read -r password; IFS= read -r key
    printf '%s\n' \"\$password\" > \$folder/password; printf '%s\n' \"\$key\" > \$folder/key
    treesample worker --model '$model' --allow-programs --workers ${WORKERS:-1} --run '$run' \
      --redis redis://127.0.0.1:${REMOTE_PORT:-16379} --password-file \$folder/password --key-file \$folder/key" &
done
wait
