package dev.activator.observability;

import dev.activator.template.Printf;
import dev.activator.template.GoTemplate;
import dev.activator.template.GoTemplateException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Writes the request log, with a line for each request. The template is the one that was set when
 * the request arrived.
 *
 * <p><b>Threads.</b> Any may call.
 *
 * <p><b>Source.</b> {@code request_log.go} of {@code knative.dev/pkg}; but the status after a 1xx
 * is the final one, the trace is named, and a response that was cut off has the status of the
 * cause.
 */
final class RequestLog implements RequestObserver {
  private final AsyncLineWriter out;
  private volatile @Nullable GoTemplate template;

  public RequestLog(AsyncLineWriter out) {
    this.out = out;
  }

  public static GoTemplate template(String text) throws GoTemplateException {
    return GoTemplate.parse(text, RequestLogFields.ABSENT);
  }

  public void use(Optional<GoTemplate> next) {
    template = next.orElse(null);
  }

  @Override
  public void saw(Step step, RequestTimeline request) {
    if (step == Step.ARRIVED && request.revision() != null) {
      request.line = template;
    } else if (step == Step.ENDED && request.line != null) {
      out.write(line(request.line, request));
    }
  }

  private static String line(GoTemplate template, RequestTimeline request) {
    String text;
    try {
      text = template.fill(new RequestLogFields(request));
    } catch (GoTemplateException e) {
      text = "Invalid request log template: method: " + request.method() + ", response code: "
          + request.status() + ", latency: "
          + Printf.number(RequestLogFields.seconds(request)) + ", url: " + request.target();
    }
    return text.endsWith("\n") ? text : text + "\n";
  }
}
