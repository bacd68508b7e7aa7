#!/usr/bin/env bash
# Kubernetes' client for Java 27.0.0 (Maven Central, io.kubernetes:client-java), Yaml.dump, which server-side apply is sent with.
#
# The guess: what the client has read from the API it can write, in YAML as in JSON. So an object that was read, changed and applied with
# ResourceClient.serverSideApply, or one that is saved and applied with kubectl, is accepted.
#
# What it does: in YAML a time is written by OffsetDateTime.toString(), which leaves out the seconds if they are zero. RFC 3339 and
# Kubernetes need them. So one object in sixty, whose creationTimestamp is at a whole minute, is refused (kube-apiserver 1.36.2: 500,
# parsing time "2026-01-01T00:00Z"), as is a Lease that was renewed then, and the same program works for all others. Seen:
#   read 2026-01-01T10:20:31Z: JSON 2026-01-01T10:20:31.000000Z, YAML 2026-01-01T10:20:31Z
#   read 2026-01-01T10:20:00Z: JSON 2026-01-01T10:20:00.000000Z, YAML 2026-01-01T10:20Z
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
    <dependency><groupId>io.kubernetes</groupId><artifactId>client-java</artifactId><version>27.0.0</version></dependency>
  </dependencies>
</project>
POM
mvn -B -ntp -q org.apache.maven.plugins:maven-dependency-plugin:3.9.0:build-classpath -Dmdep.outputFile=classpath
cat > Finding.java <<'JAVA'
import io.kubernetes.client.openapi.JSON;
import io.kubernetes.client.openapi.models.V1ConfigMap;
import io.kubernetes.client.util.Yaml;

public class Finding {
  public static void main(String[] args) {
    new JSON();
    for (String time : new String[] {"2026-01-01T10:20:31Z", "2026-01-01T10:20:00Z"}) {
      V1ConfigMap object = JSON.deserialize("{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": "
          + "{\"name\": \"a\", \"creationTimestamp\": \"" + time + "\"}}", V1ConfigMap.class);
      System.out.println("read " + time + ": JSON " + time(JSON.serialize(object)) + ", YAML " + time(Yaml.dump(object)));
    }
  }

  static String time(String text) {
    return text.replaceAll("(?s).*creationTimestamp\"?: ?['\"]?([-:.0-9TZ]*).*", "$1");
  }
}
JAVA
java -cp "$(cat classpath)" Finding.java 2> errors | tee seen || cat errors
diff seen - <<'EXPECTED'
read 2026-01-01T10:20:31Z: JSON 2026-01-01T10:20:31.000000Z, YAML 2026-01-01T10:20:31Z
read 2026-01-01T10:20:00Z: JSON 2026-01-01T10:20:00.000000Z, YAML 2026-01-01T10:20Z
EXPECTED
