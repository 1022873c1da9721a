#!/bin/sh
# Runs tests on a JVM for Linux on arm64, under qemu: those of the WAL and of gameq-test, or what 'mvn test' is given.
#
#   gameq-writer/lab/arm64.sh
#   gameq-writer/lab/arm64.sh -pl gameq-core -am      # with GAMEQ_TEST_REDIS, GAMEQ_TEST_MYSQL: see CONTRIBUTING.md
#
# Debian, root: apt-get install debootstrap qemu-user-static. On x86-64 qemu does not show the weaker memory order of real processors.
set -eu
cd "$(dirname -- "$0")/../.."
root=$PWD/gameq-writer/lab/target/arm64
java=$root/usr/lib/jvm/java-17-openjdk-arm64/bin/java
if [ ! -x "$java.arm64" ]; then
  rm -rf "$root" && mkdir -p "$root"
  debootstrap --download-only --arch=arm64 --variant=minbase --include=openjdk-17-jre-headless bookworm "$root"
  for package in "$root"/var/cache/apt/archives/*.deb; do
    dpkg-deb -x "$package" "$root"
  done
  mv "$java" "$java.arm64"
  # VFORK: the JVM's own helper that starts processes is a program for arm64, too.
  printf '#!/bin/sh\nexec qemu-aarch64-static -L "%s" "%s" -Djdk.lang.Process.launchMechanism=VFORK "$@"\n' \
    "$root" "$java.arm64" > "$java"
  chmod +x "$java"
fi
[ $# -gt 0 ] || set -- -pl gameq-core,gameq-core/test -am -Dtest='Wal*Test,PlatformFilesTest,Memory*Test'
[ -n "${GAMEQ_TEST_REDIS:-}" ] || export GAMEQ_TEST_SERVERS=none
exec mvn -Dquick -Dtest.forks=1 "-Djvm=$java" test "$@"
