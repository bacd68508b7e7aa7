package dev.activator.observability.request;

import dev.activator.config.TemplateException;
import dev.activator.observability.log.GoText;
import dev.activator.observability.log.LineWriter;
import dev.activator.observability.log.Template;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Writes a line for each request, by a template that may change at any time. The one that was in use
 * when a request arrived is used for it.
 *
 * <p>
 * <b>Threads.</b> Any may call.
 *
 * <p>
 * <b>Source.</b> {@code request_log.go} of {@code knative.dev/pkg}. Unlike it, the status after a 1xx
 * is the final one, the trace is named, and a response that was broken off has the status of what
 * broke it.
 */
public final class RequestLog implements RequestObserver {
  private final LineWriter out;
  private volatile @Nullable Template template;

  public RequestLog(LineWriter out) {
    this.out = out;
  }

  /**
   * Reads a template of lines.
   *
   * @throws TemplateException naming what is not understood, and where
   */
  public static Template template(String text) throws TemplateException {
    return Template.parse(text, RequestFields.ABSENT);
  }

  /** From now on lines are like this; empty for none. */
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
    } catch (TemplateException invalid) {
      text = "Invalid request log template: method: " + request.method() + ", response code: "
          + request.status() + ", latency: "
          + GoText.number(RequestFields.seconds(request)) + ", url: " + request.target();
    }
    return text.endsWith("\n") ? text : text + "\n";
  }
}
