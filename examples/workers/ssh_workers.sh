#!/bin/bash
# Workers of a run on hosts that are reached by ssh, with the server reached through the same connection: it listens on
# this machine alone.
#   ssh_workers.sh MODEL RUN HOST...
# RUN.password and RUN.key are here, the model and treesample on the hosts (MODEL as it is called there); the two
# secrets go there through ssh. SSH may hold options, as in SSH="ssh -p 2222"; PORT is that of the server, WORKERS the
# programs at a time on each host. Ends when all workers have ended; Ctrl-C ends them.
set -eu
model=$1 run=$2
shift 2
port=${PORT:-6379}
for host in "$@"; do
  {
    # One line each: they are base64, or any text without line ends.
    cat "$run.password" "$run.key"
  } | ${SSH:-ssh} -o ExitOnForwardFailure=yes -R "127.0.0.1:${REMOTE_PORT:-16379}:127.0.0.1:$port" "$host" "
    umask 077; folder=\$(mktemp -d); trap 'rm -rf \$folder' EXIT
    IFS= read -r password; IFS= read -r key
    printf '%s\n' \"\$password\" > \$folder/password; printf '%s\n' \"\$key\" > \$folder/key
    treesample worker --model '$model' --allow-programs --workers ${WORKERS:-1} --run '$run' \
      --redis redis://127.0.0.1:${REMOTE_PORT:-16379} --password-file \$folder/password --key-file \$folder/key" &
done
wait
