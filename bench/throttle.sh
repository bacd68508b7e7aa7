#!/bin/sh
# Admission of requests, measured and put under stress. Needs Maven, and a JDK 25 in JAVA_HOME or as
# "java".
#
#   bench/throttle.sh jmh [options]        what a warm request's admission costs (default: -prof gc)
#   bench/throttle.sh jcstress [options]   every order of two threads at the permits (default:
#                                          -m sanity, a minute; -m default takes half an hour)
set -eu
cd "$(dirname "$0")/.."
what=${1:?jmh or jcstress}
shift
mvn -B -ntp -q test-compile dependency:build-classpath -Dmdep.includeScope=test \
  -Dmdep.outputFile=target/bench.classpath
classpath=$PWD/target/test-classes:$PWD/target/classes:$(cat target/bench.classpath)
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
mkdir -p target/bench
cd target/bench
case $what in
  jmh)
    [ $# -gt 0 ] || set -- -prof gc
    exec "$java" -cp "$classpath" org.openjdk.jmh.Main PermitsBenchmark "$@" ;;
  jcstress)
    [ $# -gt 0 ] || set -- -m sanity
    exec "$java" -cp "$classpath" org.openjdk.jcstress.Main -t dev.activator.throttle "$@" ;;
  *)
    echo "neither jmh nor jcstress: $what" >&2
    exit 2 ;;
esac
