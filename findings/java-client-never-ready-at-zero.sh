#!/usr/bin/env bash
# Kubernetes' client for Java 27.0.0 (Maven Central, io.kubernetes:client-java), Readiness, and workloads that are scaled to zero.
#
# The guess: a Deployment of no replicas is ready when it has none, as its condition Available says and kubectl rollout status; a DaemonSet
# that no node matches, too. ResourceClient.waitUntilReady, which is built on it, returns for both.
#
# What it does: only a ReplicaSet is. API servers leave out readyReplicas if it is zero, and for the others a missing number is not 0; a
# DaemonSet needs a node. So waiting for objects of which one starts at zero ends with a TimeoutException. Seen, with the status that
# kube-controller-manager 1.36.2 writes, and with the numbers of 0 that it leaves out:
#   ReplicaSet: true, true
#   Deployment: false, true
#   StatefulSet: false, true
#   DaemonSet: false, false
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
import io.kubernetes.client.common.KubernetesObject;
import io.kubernetes.client.openapi.JSON;
import io.kubernetes.client.openapi.models.V1DaemonSet;
import io.kubernetes.client.openapi.models.V1Deployment;
import io.kubernetes.client.openapi.models.V1ReplicaSet;
import io.kubernetes.client.openapi.models.V1StatefulSet;
import io.kubernetes.client.util.Readiness;

public class Finding {
  public static void main(String[] args) {
    new JSON();
    String missing = ", \"readyReplicas\": 0, \"availableReplicas\": 0";
    show(V1ReplicaSet.class, "\"replicas\": 0,", "\"replicas\": 0, \"terminatingReplicas\": 0", missing);
    show(V1Deployment.class, "\"replicas\": 0,",
        "\"conditions\": [{\"type\": \"Available\", \"status\": \"True\"}], \"terminatingReplicas\": 0", missing);
    show(V1StatefulSet.class, "\"replicas\": 0,",
        "\"replicas\": 0, \"availableReplicas\": 0, \"collisionCount\": 0, \"currentRevision\": \"a-1\", \"updateRevision\": \"a-1\"",
        ", \"readyReplicas\": 0");
    show(V1DaemonSet.class, "",
        "\"currentNumberScheduled\": 0, \"numberMisscheduled\": 0, \"desiredNumberScheduled\": 0, \"numberReady\": 0", "");
  }

  static void show(Class<? extends KubernetesObject> kind, String spec, String status, String missing) {
    System.out.println(kind.getSimpleName().substring(2) + ": " + isReady(kind, spec, status) + ", " + isReady(kind, spec, status + missing));
  }

  static boolean isReady(Class<? extends KubernetesObject> kind, String spec, String status) {
    KubernetesObject object = JSON.deserialize("""
        {"metadata": {"name": "a", "namespace": "n", "generation": 1},
         "spec": {%s "selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}},
           "spec": {"containers": [{"name": "c", "image": "i"}]}}},
         "status": {"observedGeneration": 1, %s}}""".formatted(spec, status), kind);
    return Readiness.isReady(object);
  }
}
JAVA
java -cp "$(cat classpath)" Finding.java 2> errors | tee seen || cat errors
diff seen - <<'EXPECTED'
ReplicaSet: true, true
Deployment: false, true
StatefulSet: false, true
DaemonSet: false, false
EXPECTED
