package dev.activator.ext.console;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.activator.observability.ColdStarts.ColdStart;
import dev.activator.observability.RequestPhases.Phase;
import dev.activator.revision.RevisionId;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;
import org.springframework.util.MimeType;
import reactor.core.publisher.Mono;

/**
 * The endpoint {@code /actuator/activator}. It lists the revisions for which requests wait; with a
 * namespace and a name, it explains why they wait. {@code /cold-starts} shows where the time of the
 * last cold starts went; {@code /revisions} lists all revisions. {@code ?format=text} is for a
 * terminal.
 *
 * <p><b>Errors.</b> 400 for another format; 404 for an unknown revision; 503 if an event loop does
 * not answer within 5 s.
 */
@WebEndpoint(id = "activator")
public final class ActivatorActuatorEndpoint {
  private static final int OK = 200;
  private static final int BAD_REQUEST = 400;
  private static final int NOT_FOUND = 404;
  private static final int UNAVAILABLE = 503;
  private static final Duration TIMEOUT = Duration.ofSeconds(5);

  private static final String COLD_STARTS = "cold-starts";
  private static final String REVISIONS = "revisions";

  private final RevisionInspector inspector;
  private final Supplier<List<ColdStart>> coldStarts;

  /** @param coldStarts returns the last ones, the latest first; any thread may call */
  public ActivatorActuatorEndpoint(RevisionInspector inspector,
      Supplier<List<ColdStart>> coldStarts) {
    this.inspector = inspector;
    this.coldStarts = coldStarts;
  }

  public record Message(String summary) {}

  /**
   * @param when the request came, in UTC
   * @param totalMillis until the first byte of the response, or until the end if there was no
   *     response
   * @param phaseMillis the phases in order
   * @param startMillis the phases pod and probe in more detail, in order; empty if unknown
   */
  record ColdStartReport(String revision, String when, double totalMillis,
      Map<String, Double> phaseMillis, Map<String, Double> startMillis, String outcome,
      int status) {
    private static final double NANOS_A_MILLI = 1e6;

    static ColdStartReport of(ColdStart start) {
      var millis = new LinkedHashMap<String, Double>();
      for (var phase : Phase.values()) {
        millis.put(phase.toString(), start.phases().of(phase) / NANOS_A_MILLI);
      }
      var split = new LinkedHashMap<String, Double>();
      start.start().forEach((phase, nanos) -> split.put(phase.toString(), nanos / NANOS_A_MILLI));
      return new ColdStartReport(start.revision().toString(), start.when().toString(),
          start.phases().totalNanos() / NANOS_A_MILLI, millis, split, start.outcome().toString(),
          start.status());
    }
  }

  @ReadOperation
  public Mono<WebEndpointResponse<Object>> overview(@Nullable String format) {
    return in(format, isText -> Mono.fromFuture(inspector::overview)
        .map(now -> isText ? text(TextReports.of(now), OK) : new WebEndpointResponse<>(now)));
  }

  @ReadOperation
  public Mono<WebEndpointResponse<Object>> revision(@Selector String namespace,
      @Selector String name, @Nullable String format) {
    return in(format,
        isText -> Mono.fromFuture(() -> inspector.revision(new RevisionId(namespace, name)))
            .map(report -> {
              int status = report.requests() == null ? NOT_FOUND : OK;
              return isText
                  ? text(TextReports.of(report), status)
                  : new WebEndpointResponse<>(report, status);
            }));
  }

  @ReadOperation
  public Mono<WebEndpointResponse<Object>> page(@Selector String page, @Nullable String format) {
    return switch (page) {
      case COLD_STARTS -> Mono.fromSupplier(() -> new WebEndpointResponse<>(
          coldStarts.get().stream().map(ColdStartReport::of).toList()));
      case REVISIONS -> in(format, isText -> Mono.fromFuture(inspector::everything)
          .map(all -> isText
              ? text(TextReports.table(all.revisions()), OK)
              : new WebEndpointResponse<>(
                  all.revisions().stream().map(now -> now.revision().toString()).sorted()
                      .toList())));
      default -> Mono.just(new WebEndpointResponse<>(new Message("There is no page " + page
          + "; a revision is named by its namespace and its name."), NOT_FOUND));
    };
  }

  private static WebEndpointResponse<Object> text(String text, int status) {
    return new WebEndpointResponse<>(text, status, new MimeType("text", "plain", UTF_8));
  }

  /** @param answer gets whether the format is text */
  private static Mono<WebEndpointResponse<Object>> in(@Nullable String format,
      Function<Boolean, Mono<WebEndpointResponse<Object>>> answer) {
    return switch (format) {
      case null -> withTimeout(answer.apply(false));
      case "json" -> withTimeout(answer.apply(false));
      case "text" -> withTimeout(answer.apply(true));
      default -> Mono.just(new WebEndpointResponse<>(
          new Message("There is no format " + format + ", only json and text."), BAD_REQUEST));
    };
  }

  private static Mono<WebEndpointResponse<Object>> withTimeout(
      Mono<WebEndpointResponse<Object>> answer) {
    return answer.timeout(TIMEOUT, Mono.fromSupplier(() -> new WebEndpointResponse<>(
        new Message("An event loop has not answered for " + TIMEOUT.toSeconds() + " s."),
        UNAVAILABLE)));
  }
}
