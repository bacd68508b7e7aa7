#!/usr/bin/env bash
# Kubernetes' client for Java 27.0.0 (Maven Central, io.kubernetes:client-java), and the quantity 1Ei, the largest binary suffix.
#
# The guess: what the client has read it can write, and so send back: 1Ei is as good as 1Pi. Kubernetes writes 1024Pi as 1Ei, so a
# ResourceQuota that is to mean "no limit" may have it.
#
# What it does: it reads 1Ei, and cannot write any object that has it. Of 1024Pi it makes 1Ei itself. So an object that went through
# this client once, or through Kubernetes, cannot be updated with it. Seen:
#   1Pi: {"hard":{"requests.storage":"1Pi"}}
#   1024Pi: {"hard":{"requests.storage":"1Ei"}}
#   1Ei: IllegalArgumentException: No suffix for exponent3
#   1E: {"hard":{"requests.storage":"1E"}}
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
import io.kubernetes.client.openapi.models.V1ResourceQuota;

public class Finding {
  public static void main(String[] args) {
    for (String amount : new String[] {"1Pi", "1024Pi", "1Ei", "1E"}) {
      V1ResourceQuota quota = new JSON().deserialize(
          "{\"spec\": {\"hard\": {\"requests.storage\": \"" + amount + "\"}}}", V1ResourceQuota.class);
      try {
        System.out.println(amount + ": " + new JSON().serialize(quota.getSpec().scopes(null)));
      } catch (IllegalArgumentException e) {
        System.out.println(amount + ": IllegalArgumentException: " + e.getMessage());
      }
    }
  }
}
JAVA
java -cp "$(cat classpath)" Finding.java 2> errors | tee seen
diff seen - <<'EXPECTED'
1Pi: {"hard":{"requests.storage":"1Pi"}}
1024Pi: {"hard":{"requests.storage":"1Ei"}}
1Ei: IllegalArgumentException: No suffix for exponent3
1E: {"hard":{"requests.storage":"1E"}}
EXPECTED
