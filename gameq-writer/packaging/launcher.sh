#!/bin/sh
# Starts the program that this file is named after (gameq-writer, gameq-recovery) with the arguments given.
#
#   JAVA_HOME        the Java to use; else the java on the PATH. 17 or newer
#   JAVA_OPTS        more options for the JVM, separated by spaces; they win over those of the options file
#   GAMEQ_JVM_FILE   the options file; else conf/<program>.jvm, if it is there
#   GAMEQ_CACHE_DIR  a directory for what makes the next start quicker; else systemd's CACHE_DIRECTORY; else cache, beside bin.
#                    Where it cannot be written, nothing is kept
# shellcheck disable=SC2086  # JAVA_OPTS is split at spaces on purpose
set -eu

me=$(readlink -f -- "$0")
program=$(basename -- "$me")
home=$(dirname -- "$(dirname -- "$me")")

fail() {
  echo "$program: $1" >&2
  exit 2 # as for any other command that could not run
}

if [ -n "${JAVA_HOME:-}" ]; then
  java=$JAVA_HOME/bin/java
  [ -x "$java" ] || fail "JAVA_HOME is $JAVA_HOME, and there is no bin/java in it"
else
  java=$(command -v java) || fail "there is no java on the PATH: install Java 17 or newer, or set JAVA_HOME"
fi
real=$(readlink -f -- "$java")
version= # such as 17.0.15; stays empty where Java does not say
if [ -r "${real%/bin/java}/release" ]; then
  version=$(sed -n 's/^JAVA_VERSION="\([0-9.]*\).*/\1/p' "${real%/bin/java}/release")
fi
major=${version%%.*}
[ "${major:-17}" -ge 17 ] || fail "$java is Java $version: 17 or newer is needed; JAVA_HOME chooses another"

command=${1:-}
set -- -jar "$home/$program.jar" "$@"
quick=
if [ "$program" = gameq-writer ] && [ "$command" != run ]; then
  quick=-XX:TieredStopAtLevel=1 # it is over before the optimizing compiler has paid off
fi

file=${GAMEQ_JVM_FILE:-$home/conf/$program.jvm}
if [ -r "$file" ]; then
  set -- "@$file" $quick ${JAVA_OPTS:-} "$@"
elif [ -n "${GAMEQ_JVM_FILE:-}" ]; then
  fail "GAMEQ_JVM_FILE is $file, which cannot be read"
else
  set -- $quick ${JAVA_OPTS:-} "$@"
fi

# The classes that a writer loads, as the JVM keeps them in memory: a start takes 60 % of the processor time with them. The
# first writer that ends normally leaves them behind; the JVM itself ignores a file that does not fit it or the jars. One that failed
# while it started leaves a small file, about 10 MB instead of 35 or more: it is made anew. What the JVM has to say about all this, it
# would say on standard output.
cache=${GAMEQ_CACHE_DIR:-${CACHE_DIRECTORY:-$home/cache}}
if [ -n "$version" ] && [ "$program" = gameq-writer ]; then
  shared=$cache/$(basename -- "$home")-java-$version.jsa
  if [ -r "$shared" ] && [ -n "$(find "$shared" -size +20480k)" ]; then
    set -- "-XX:SharedArchiveFile=$shared" -Xlog:disable -Xlog:all=error:stderr "$@"
  elif [ -w "$cache" ] && [ "$command" = run ]; then
    set -- "-XX:ArchiveClassesAtExit=$shared" -Xlog:disable -Xlog:all=error:stderr "$@"
  fi
fi

if [ -t 1 ]; then # tables are as wide as the terminal; a file and a pipe have all
  size=$({ stty size <&3; } 2>/dev/null) || size=
  GAMEQ_COLUMNS=${size#* }
  export GAMEQ_COLUMNS
fi 3>&1

exec "$java" "$@" # exec, so that signals reach the JVM
