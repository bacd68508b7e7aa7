#!/usr/bin/env bash
# kubernetes-model-core 8.0.0 (io.fabric8, Java), and a duration with a fraction (io.fabric8.kubernetes.api.model.Duration).
#
# The guess: a metav1.Duration that a Go program has written is read as what it is, or refused. Go writes a minute and a half as 1m30s, and
# half a second as 500ms, but a second and a half as 1.5s; people write 1.5h, which Go reads, too.
#
# What it does: it adds up each number that a unit follows, and skips the rest, so only the digits after the point count: 1.5h is five hours,
# and -5m is five minutes. Nothing is thrown, and the wrong duration is written back. Seen (read as; written back):
#   1m30s: PT1M30S; 90000000000ns
#   1.5s: PT5S; 5000000000ns
#   1m30.25s: PT1M25S; 85000000000ns
#   1.5h: PT5H; 18000000000000ns
#   -5m: PT5M; 300000000000ns
#
# Needs Maven and a JDK 17 or later. Ends with 0 while this is so, and with 1 if it has changed.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > pom.xml <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>finding</groupId><artifactId>finding</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>io.fabric8</groupId><artifactId>kubernetes-client-api</artifactId><version>8.0.0</version></dependency>
  </dependencies>
</project>
POM
mvn -B -ntp -q org.apache.maven.plugins:maven-dependency-plugin:3.9.0:build-classpath -Dmdep.outputFile=classpath
cat > Finding.java <<'JAVA'
import io.fabric8.kubernetes.api.model.Duration;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.List;

public class Finding {
  public static void main(String[] args) {
    var serialization = new KubernetesSerialization();
    for (String each : List.of("1m30s", "1.5s", "1m30.25s", "1.5h", "-5m")) {
      var read = serialization.unmarshal('"' + each + '"', Duration.class);
      System.out.println(each + ": " + read.getDuration() + "; " + serialization.asJson(read).replace("\"", ""));
    }
  }
}
JAVA
java -cp "$(cat classpath)" Finding.java 2> errors | tee seen || cat errors
diff seen - <<'EXPECTED'
1m30s: PT1M30S; 90000000000ns
1.5s: PT5S; 5000000000ns
1m30.25s: PT1M25S; 85000000000ns
1.5h: PT5H; 18000000000000ns
-5m: PT5M; 300000000000ns
EXPECTED
