package dev.activator.cluster.decode;

import dev.activator.revision.Protocol;
import dev.activator.revision.RequestTimeouts;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.revision.StartFailure;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a Revision object says.
 *
 * <p>
 * <b>Source.</b> {@code revision_helpers.go} in {@code knative.dev/serving/pkg/apis/serving/v1}, {@code
 * newRevisionWatcher} in {@code revision_backends.go}.
 */
final class RevisionReader {
  private static final String H2C_PORT = "h2c";
  private static final List<String> START_CONDITIONS = List.of("ContainerHealthy",
      "ResourcesAvailable");

  private RevisionReader() {}

  static Revision read(Field object, List<String> remarks) {
    var metadata = object.at("metadata");
    var spec = object.at("spec");
    var containers = Containers.of(spec.at("containers"));
    if (containers.isNone()) {
      remarks.add("spec.containers is empty");
    }
    var annotations = metadata.at("annotations").texts();
    return new Revision(
        new RevisionId(metadata.at("namespace").text(), metadata.at("name").text()),
        metadata.at("uid").textOrEmpty(), protocol(containers),
        spec.at("containerConcurrency").countOr(0), timeouts(spec),
        containers.probesBeforeReady(), containers.readinessProbe(annotations, remarks),
        metadata.at("labels").texts(), annotations, startFailure(object.at("status")));
  }

  private static Protocol protocol(Containers containers) {
    return H2C_PORT.equals(containers.firstPortName()) ? Protocol.H2C : Protocol.HTTP1;
  }

  private static RequestTimeouts timeouts(Field spec) {
    int overall = spec.at("timeoutSeconds").countOr(0);
    return new RequestTimeouts(
        overall == 0 ? RequestTimeouts.DEFAULT.overall() : Duration.ofSeconds(overall),
        Duration.ofSeconds(spec.at("responseStartTimeoutSeconds").countOr(0)),
        Duration.ofSeconds(spec.at("idleTimeoutSeconds").countOr(0)));
  }

  /** Why its containers do not start; null while nothing says that they do not. */
  private static @Nullable StartFailure startFailure(Field status) {
    var conditions = status.at("conditions").items();
    for (var type : START_CONDITIONS) {
      for (var condition : conditions) {
        if (condition.at("type").textOrEmpty().equals(type)
            && condition.at("status").textOrEmpty().equals("False")) {
          return new StartFailure(condition.at("reason").textOrEmpty(),
              condition.at("message").textOrEmpty(),
              condition.at("lastTransitionTime").textOrEmpty());
        }
      }
    }
    return null;
  }
}
