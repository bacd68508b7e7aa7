package dev.activator.observability;

import dev.activator.template.Printf;
import dev.activator.template.Template;
import dev.activator.template.TemplateException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The request log: a line for each request, by the template that was set when it arrived.
 *
 * <p><b>Threads.</b> Any may call.
 *
 * <p><b>Source.</b> {@code request_log.go} of {@code knative.dev/pkg}; but the status after a 1xx
 * is the final one, the trace is named, and a response that was cut off has the status of the
 * cause.
 */
final class RequestLog implements RequestObserver {
  private final LineWriter out;
  private volatile @Nullable Template template;

  public RequestLog(LineWriter out) {
    this.out = out;
  }

  public static Template template(String text) throws TemplateException {
    return Template.parse(text, RequestFields.ABSENT);
  }

  public void use(Optional<Template> next) {
    template = next.orElse(null);
  }

  @Override
  public void saw(Step step, RequestRecord request) {
    if (step == Step.ARRIVED && request.revision() != null) {
      request.line = template;
    } else if (step == Step.ENDED && request.line != null) {
      out.write(line(request.line, request));
    }
  }

  private static String line(Template template, RequestRecord request) {
    String text;
    try {
      text = template.fill(new RequestFields(request));
    } catch (TemplateException e) {
      text = "Invalid request log template: method: " + request.method() + ", response code: "
          + request.status() + ", latency: "
          + Printf.number(RequestFields.seconds(request)) + ", url: " + request.target();
    }
    return text.endsWith("\n") ? text : text + "\n";
  }
}
