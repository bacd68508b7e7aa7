#!/usr/bin/env bash
# kubernetes-model-core 8.0.0 (io.fabric8, Java), and quantities with the suffix Ei.
#
# The guess: a quantity is exact, as BigDecimal is its type, and two texts of one amount are equal (Quantity.equals compares amounts):
# 1Gi equals 1024Mi, and 1Ei, as which Kubernetes writes it, equals 1024Pi.
#
# What it does: the factor of Ei comes from a double by way of its shortest decimal text, and is 24 bytes too large. So what
# was applied and what Kubernetes returns differ, and a controller that compares them goes on updating. Seen:
#   1Gi is 1024Mi: true
#   1Pi is 1024Ti: true
#   1Ei is 1024Pi: false
#   1Ei is 1152921504606847000 bytes, not 1152921504606846976
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
    <dependency><groupId>io.fabric8</groupId><artifactId>kubernetes-model-core</artifactId><version>8.0.0</version></dependency>
  </dependencies>
</project>
POM
mvn -B -ntp -q org.apache.maven.plugins:maven-dependency-plugin:3.9.0:build-classpath -Dmdep.outputFile=classpath
cat > Finding.java <<'JAVA'
import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;

public class Finding {
  public static void main(String[] args) {
    compare("1Gi", "1024Mi");
    compare("1Pi", "1024Ti");
    compare("1Ei", "1024Pi");
    System.out.println("1Ei is " + new Quantity("1Ei").getNumericalAmount().toPlainString() + " bytes, not " + BigDecimal.valueOf(1L << 60));
  }

  static void compare(String one, String other) {
    System.out.println(one + " is " + other + ": " + new Quantity(one).equals(new Quantity(other)));
  }
}
JAVA
java -cp "$(cat classpath)" Finding.java 2> errors | tee seen
diff seen - <<'EXPECTED'
1Gi is 1024Mi: true
1Pi is 1024Ti: true
1Ei is 1024Pi: false
1Ei is 1152921504606847000 bytes, not 1152921504606846976
EXPECTED
