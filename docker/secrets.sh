#!/bin/sh
# Makes the secrets that docker/compose.postgres.yaml needs, in docker/secrets: sh docker/secrets.sh
# Existing secrets are kept, because the database keeps its first password.
set -eu
umask 077
mkdir -p "$(dirname "$0")/secrets"
cd "$(dirname "$0")/secrets"
# No other user of this machine can enter the folder. The files in it are readable by everybody, because they are mounted into
# containers whose users have other ids.
chmod 700 .

random() { od -An -N32 -tx1 /dev/urandom | tr -d ' \n'; }

# Writes standard input to a new file. The file appears only when it is complete.
keep() {
  cat >".$1.$$"
  chmod 444 ".$1.$$"
  mv ".$1.$$" "$1"
  echo "made docker/secrets/$1"
}

if [ -e database-url ] && [ ! -s postgres-password ]; then
  echo 'docker/secrets/database-url exists, but docker/secrets/postgres-password is missing or empty: restore it, or remove both' >&2
  exit 1
fi
for name in session-secret postgres-password; do
  if [ -s "$name" ]; then echo "kept docker/secrets/$name"; else random | keep "$name"; fi
done
if [ -s database-url ]; then
  echo 'kept docker/secrets/database-url'
else
  echo "postgres://tradepost:$(cat postgres-password)@postgres/tradepost" | keep database-url
fi
