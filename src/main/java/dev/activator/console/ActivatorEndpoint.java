package dev.activator.console;

import dev.activator.observability.ColdStarts.ColdStart;
import dev.activator.observability.Phases.Phase;
import dev.activator.revision.RevisionId;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;
import reactor.core.publisher.Mono;

/**
 * {@code /actuator/activator}: for which revisions requests wait; with a namespace and a name, why;
 * with {@code cold-starts}, how the last ones spent their time.
 *
 * <p><b>Errors.</b> 404 for an unknown revision; 503 if a loop does not answer.
 */
@WebEndpoint(id = "activator")
public final class ActivatorEndpoint {
  private static final int NOT_FOUND = 404;
  private static final int UNAVAILABLE = 503;
  private static final Duration TIMEOUT = Duration.ofSeconds(5);

  private static final String COLD_STARTS = "cold-starts";

  private final Inspector inspector;
  private final Supplier<List<ColdStart>> coldStarts;

  /** @param coldStarts the latest first; any thread may call */
  public ActivatorEndpoint(Inspector inspector, Supplier<List<ColdStart>> coldStarts) {
    this.inspector = inspector;
    this.coldStarts = coldStarts;
  }

  public record Message(String summary) {}

  /**
   * @param when its request came, in UTC
   * @param totalMillis until the first byte of the response, or its end without one
   * @param phaseMillis in order
   */
  record ColdStartReport(String revision, String when, double totalMillis,
      Map<String, Double> phaseMillis, String outcome, int status) {
    private static final double NANOS_A_MILLI = 1e6;

    static ColdStartReport of(ColdStart start) {
      var millis = new LinkedHashMap<String, Double>();
      for (var phase : Phase.values()) {
        millis.put(phase.toString(), start.phases().of(phase) / NANOS_A_MILLI);
      }
      return new ColdStartReport(start.revision().toString(), start.when().toString(),
          start.phases().totalNanos() / NANOS_A_MILLI, millis, start.outcome().toString(),
          start.status());
    }
  }

  @ReadOperation
  public Mono<WebEndpointResponse<Object>> overview() {
    return withTimeout(Mono.fromFuture(inspector::overview).map(WebEndpointResponse::new));
  }

  @ReadOperation
  public Mono<WebEndpointResponse<Object>> revision(@Selector String namespace,
      @Selector String name) {
    return withTimeout(Mono.fromFuture(() -> inspector.revision(new RevisionId(namespace, name)))
        .map(ActivatorEndpoint::answer));
  }

  @ReadOperation
  public WebEndpointResponse<Object> page(@Selector String page) {
    return page.equals(COLD_STARTS)
        ? new WebEndpointResponse<>(
            coldStarts.get().stream().map(ColdStartReport::of).toList())
        : new WebEndpointResponse<>(new Message("There is no page " + page + "; a revision is"
            + " named by its namespace and its name."), NOT_FOUND);
  }

  private static WebEndpointResponse<Object> answer(RevisionReport report) {
    return report.requests() == null
        ? new WebEndpointResponse<>(report, NOT_FOUND)
        : new WebEndpointResponse<>(report);
  }

  private static Mono<WebEndpointResponse<Object>> withTimeout(
      Mono<WebEndpointResponse<Object>> answer) {
    return answer.timeout(TIMEOUT, Mono.fromSupplier(() -> new WebEndpointResponse<>(
        new Message("An event loop has not answered for " + TIMEOUT.toSeconds() + " s."),
        UNAVAILABLE)));
  }
}
