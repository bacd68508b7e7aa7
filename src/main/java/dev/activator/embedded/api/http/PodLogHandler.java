package dev.activator.embedded.api.http;

import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.ObjectMeta;
import dev.activator.embedded.api.store.ContainerLog;
import dev.activator.embedded.api.store.ContainerLog.Line;
import dev.activator.embedded.api.store.StatusException;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.http.MediaType;
import org.springframework.web.reactive.function.server.ServerRequest;
import org.springframework.web.reactive.function.server.ServerResponse;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import tools.jackson.databind.node.ObjectNode;

/**
 * The handler of {@code GET …/pods/{name}/log}, which returns the output of a pod's container.
 *
 * <p><b>Source.</b> {@code PodLogOptions} in {@code k8s.io/api/core/v1/types.go}; the error
 * messages of {@code pkg/registry/core/pod/strategy.go} and of the kubelet.
 */
final class PodLogHandler {
  private final ApiStore store;

  PodLogHandler(ApiStore store) {
    this.store = store;
  }

  Mono<ServerResponse> log(RequestedResource target, ServerRequest request) {
    var found = store.find(BuiltInKinds.POD, target.namespace(), target.name());
    var pod = found == null ? store.podLogs().ended(target.namespace(), target.name()) : found;
    if (pod == null) {
      return Mono.error(StatusException.notFound(BuiltInKinds.POD, target.name()));
    }
    var query = new QueryParameters(request);
    var log = log(target, pod, query);
    var options = new Options(query, store.now());
    var lines = query.yes("follow")
        ? log.follow().index().map(some -> some.getT1() == 0
            ? options.last(some.getT2())
            : some.getT2())
        : Flux.defer(() -> Flux.just(options.last(log.lines())));
    var bytes = options.limit(lines.map(options::text))
        .publishOn(ApiRoutes.connectionThread(request), 1);
    return ServerResponse.ok().contentType(MediaType.TEXT_PLAIN).build((exchange, _) -> {
      var response = exchange.getResponse();
      return response.writeAndFlushWith(
          bytes.map(some -> Mono.fromSupplier(() -> response.bufferFactory().wrap(some))));
    });
  }

  private ContainerLog log(RequestedResource target, ObjectNode pod, QueryParameters query) {
    String container = requireContainer(pod, query);
    var logs = store.podLogs();
    if (query.yes("previous")) {
      return found(logs.previous(target.namespace(), target.name()),
          "previous terminated container \"" + container + "\" in pod \"" + target.name()
              + "\" not found");
    }
    String why = pod.at("/status/containerStatuses/0/state/waiting/reason")
        .asString("ContainerCreating");
    return found(logs.current(target.namespace(), target.name()), "container \"" + container
        + "\" in pod \"" + target.name() + "\" is waiting to start: " + why);
  }

  /** The name of the pod's only container. Refuses a request for another one. */
  static String requireContainer(ObjectNode pod, QueryParameters query) {
    String container = pod.at("/spec/containers/0/name").asString("");
    String requested = query.text("container");
    if (!requested.isEmpty() && !requested.equals(container)) {
      throw StatusException.badRequest(
          "container " + requested + " is not valid for pod " + ObjectMeta.name(pod));
    }
    return container;
  }

  private static ContainerLog found(@Nullable ContainerLog log, String otherwise) {
    if (log == null) {
      throw StatusException.badRequest(otherwise);
    }
    return log;
  }

  private static final class Options {
    private final long tail;
    private final Instant since;
    private final long limitBytes;
    private final boolean timestamps;

    Options(QueryParameters query, Instant now) {
      tail = number(query, "tailLines", 0, Long.MAX_VALUE);
      limitBytes = number(query, "limitBytes", 1, Long.MAX_VALUE);
      long seconds = number(query, "sinceSeconds", 1, 0);
      since = seconds > 0 ? now.minusSeconds(seconds) : time(query.text("sinceTime"));
      timestamps = query.yes("timestamps");
    }

    private static long number(QueryParameters query, String name, long least, long absent) {
      if (query.text(name).isEmpty()) {
        return absent;
      }
      long number = query.number(name);
      if (number < least) {
        throw StatusException.invalid(name,
            "Invalid value: " + number + ": must be greater than or equal to " + least);
      }
      return number;
    }

    private static Instant time(String text) {
      try {
        return text.isEmpty() ? Instant.MIN : OffsetDateTime.parse(text).toInstant();
      } catch (DateTimeException e) {
        throw StatusException.badRequest("the parameter 'sinceTime' is not a time: \"" + text
            + "\"");
      }
    }

    /** The last lines among those that are new enough. */
    List<Line> last(List<Line> lines) {
      var recent = lines.stream().filter(line -> !line.time().isBefore(since)).toList();
      return recent.subList((int) Math.max(0, recent.size() - tail), recent.size());
    }

    byte[] text(List<Line> lines) {
      var text = new StringBuilder();
      for (var line : lines) {
        if (timestamps) {
          text.append(line.time()).append(' ');
        }
        text.append(line.text()).append('\n');
      }
      return text.toString().getBytes(StandardCharsets.UTF_8);
    }

    Flux<byte[]> limit(Flux<byte[]> bytes) {
      return Flux.defer(() -> {
        var left = new long[]{limitBytes};
        return bytes.map(some -> {
          var sent = some.length <= left[0] ? some : Arrays.copyOf(some, (int) left[0]);
          left[0] -= sent.length;
          return sent;
        }).takeUntil(_ -> left[0] <= 0);
      });
    }
  }
}
