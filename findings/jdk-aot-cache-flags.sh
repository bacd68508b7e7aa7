#!/usr/bin/env bash
# JDK 25 (25.0.3), an AOT cache (JEP 514), and flags that the training run did not have.
#
# The guess: other collectors and compilers make a cache useless, as it was made with other ones; a permission such as
# --enable-native-access, or a recording that JFR starts, changes nothing that is in the cache.
#
# What it does, the other way round: another collector (Serial for G1) or -Xint leaves it in use. With a flag that has to do with
# modules the JVM drops the cache as a whole, and takes not even the JDK's own classes from it; the exit code stays 0. JFR at the
# start does the same, though no flag of modules is given. Seen, with classes of the cache in use:
#   (none): used
#   -XX:+UseSerialGC: used
#   -Xint: used
#   --sun-misc-unsafe-memory-access=allow: used
#   --enable-native-access=ALL-UNNAMED: dropped
#   --add-opens=java.base/java.nio=ALL-UNNAMED: dropped
#   -XX:StartFlightRecording:filename=r.jfr: dropped
#
# Needs a JDK 25 in JAVA_HOME or the PATH. Ends with 0 while this is so, and with 1 if it has changed.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bin=${JAVA_HOME:+$JAVA_HOME/bin/}
cd "$work"
echo 'public class Main { public static void main(String[] args) { System.out.println("ok"); } }' > Main.java
"${bin}javac" Main.java
"${bin}jar" --create --file main.jar Main.class
"${bin}java" -XX:+UseG1GC -XX:AOTCacheOutput=main.aot -cp main.jar Main > training 2>&1
for flag in "" -XX:+UseSerialGC -Xint --sun-misc-unsafe-memory-access=allow --enable-native-access=ALL-UNNAMED \
  --add-opens=java.base/java.nio=ALL-UNNAMED -XX:StartFlightRecording:filename=r.jfr; do
  "${bin}java" -XX:AOTCache=main.aot -Xlog:class+load:file=loaded ${flag:+"$flag"} \
    -cp main.jar Main > output 2>&1
  grep -q 'java.lang.Object source: shared' loaded && use=used || use=dropped
  echo "${flag:-(none)}: $use"
done | tee seen
diff seen - <<'EXPECTED'
(none): used
-XX:+UseSerialGC: used
-Xint: used
--sun-misc-unsafe-memory-access=allow: used
--enable-native-access=ALL-UNNAMED: dropped
--add-opens=java.base/java.nio=ALL-UNNAMED: dropped
-XX:StartFlightRecording:filename=r.jfr: dropped
EXPECTED
