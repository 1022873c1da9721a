#!/bin/sh
# Makes the passwords that compose.yaml mounts, in the folder secrets beside it; keeps those that are there.
set -eu
umask 077
cd "$(dirname -- "$0")"
mkdir -p secrets
for name in mysql_root_password mysql_password redis_password http_token; do
  [ -s "secrets/$name" ] || head -c 24 /dev/urandom | od -An -vtx1 | tr -d ' \n' > "secrets/$name"
done
# The user of gameq, and one that can only ask whether Redis answers.
{
  printf 'user default on >%s ~* &* +@all\n' "$(cat secrets/redis_password)"
  printf 'user health on nopass resetkeys resetchannels -@all +ping\n'
} > secrets/redis_users
# The users in the containers are others than yours: the folder keeps strangers of this host out, not the files.
chmod 644 secrets/*
