package dev.activator.observability.log;

import dev.activator.observability.request.RequestObserver;
import dev.activator.observability.request.RequestRecord;
import dev.activator.observability.template.GoText;
import dev.activator.observability.template.Template;
import dev.activator.observability.template.TemplateException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A line a request, in the words of a template that may change at any time. A request is written in
 * those that held when it arrived.
 *
 * <p>
 * <b>Threads.</b> Requests are told of on their loops; any thread may change the template.
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
      text = template.fill(new LoggedRequest(request));
    } catch (TemplateException invalid) {
      text = "Invalid request log template: method: " + request.method() + ", response code: "
          + request.status() + ", latency: " + GoText.number(LoggedRequest.seconds(request))
          + ", url: " + request.target();
    }
    return text.endsWith("\n") ? text : text + "\n";
  }
}
