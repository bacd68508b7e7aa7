package dev.activator.bench;

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * A proxy that takes part.
 *
 * @param name in the table
 * @param pid its process
 * @param ports where it takes the requests of each route; one for all in an activator
 * @param isOurs whether it is an activator, which is told the revision by headers
 */
record Contestant(String name, long pid, Map<Pods, Integer> ports, boolean isOurs) {
  /** Ways to the four pods. */
  enum Pods {
    HTTP1("http1", 0),
    FEW("few", 10),
    H2C("h2c", 0);

    private final String revision;
    private final int containerConcurrency;

    Pods(String revision, int containerConcurrency) {
      this.revision = revision;
      this.containerConcurrency = containerConcurrency;
    }

    /** The name of the revision that they serve. */
    String revision() {
      return revision;
    }

    /** How many requests at once each of them takes; 0 for any number. */
    int containerConcurrency() {
      return containerConcurrency;
    }
  }

  String url(Pods pods, String path) {
    return "http://127.0.0.1:" + ports.get(pods) + path;
  }

  /** What ingresses send with a request. */
  List<String> headers(Pods pods) {
    return isOurs
        ? List.of("Knative-Serving-Namespace: bench",
            "Knative-Serving-Revision: " + pods.revision())
        : List.of();
  }

  /** The same for a tool's command line. */
  List<String> headerOptions(Pods pods) {
    return headers(pods).stream().flatMap(header -> Stream.of("-H", header)).toList();
  }
}
