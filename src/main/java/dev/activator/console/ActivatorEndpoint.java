package dev.activator.console;

import dev.activator.observability.ColdStarts.ColdStart;
import dev.activator.revision.RevisionId;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;
import reactor.core.publisher.Mono;

/**
 * {@code /actuator/activator}: for which revisions requests wait; with a namespace and a name behind
 * it, why; with {@code cold-starts}, what the last ones were made of.
 *
 * <p>
 * <b>Errors.</b> 404, as JSON too, for a revision that does not exist; 503 if a loop does not answer.
 */
@WebEndpoint(id = "activator")
public final class ActivatorEndpoint {
  private static final int NOT_FOUND = 404;
  private static final int UNAVAILABLE = 503;
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private static final String COLD_STARTS = "cold-starts";

  private final Inspector inspector;
  private final Supplier<List<ColdStart>> coldStarts;

  /** @param coldStarts the last ones, the latest first; any thread may ask */
  public ActivatorEndpoint(Inspector inspector, Supplier<List<ColdStart>> coldStarts) {
    this.inspector = inspector;
    this.coldStarts = coldStarts;
  }

  /** What people are told where there is nothing else to say. */
  public record Message(String summary) {}

  /** All that wait. */
  @ReadOperation
  public Mono<WebEndpointResponse<Object>> overview() {
    return patiently(Mono.fromFuture(inspector::overview).map(WebEndpointResponse::new));
  }

  /** One revision. */
  @ReadOperation
  public Mono<WebEndpointResponse<Object>> revision(@Selector String namespace,
      @Selector String name) {
    return patiently(Mono.fromFuture(() -> inspector.revision(new RevisionId(namespace, name)))
        .map(ActivatorEndpoint::answer));
  }

  /** The last cold starts: {@code cold-starts} is the one page of its sort. */
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

  private static Mono<WebEndpointResponse<Object>> patiently(
      Mono<WebEndpointResponse<Object>> answer) {
    return answer.timeout(PATIENCE, Mono.fromSupplier(() -> new WebEndpointResponse<>(
        new Message("An event loop has not answered for " + PATIENCE.toSeconds() + " s."),
        UNAVAILABLE)));
  }
}
