package dev.activator.backend;

import dev.activator.backend.policy.ProbeForm;
import dev.activator.backend.policy.ProbeOutcome;
import dev.activator.backend.policy.ProbeTimeout;
import dev.activator.loop.Loop;
import dev.activator.revision.Destination;
import dev.activator.revision.PrivateService;
import dev.activator.revision.Protocol;
import dev.activator.revision.Revision;
import dev.activator.upstream.probe.ProbeAnswer;
import dev.activator.upstream.probe.ProbeClient;
import dev.activator.upstream.probe.ProbeRequest;
import java.time.Duration;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks the queue-proxy of a pod, over a connection that the first request then finds open; or the
 * container itself, where an annotation says that there is no queue-proxy.
 *
 * <p>
 * A queue-proxy answers HTTP/1.1 on each of its ports. Where a revision says that it speaks HTTP/2,
 * and something else is what answers, it is asked in that.
 *
 * <p>
 * <b>Threads.</b> All calls are made on the revision's loop.
 *
 * <p>
 * <b>Source.</b> {@code probe} in Knative's {@code revision_backends.go}. The queue-proxy tells our
 * probes from requests by header and user agent, and answers only once its container does.
 */
final class HttpProber implements Prober {
  private static final Logger log = LoggerFactory.getLogger(HttpProber.class);
  private static final Map<String, String> HEADERS = Map.of("K-Network-Probe", "queue",
      "User-Agent", "Knative-Activator-Probe");
  private static final Map<String, String> PASSTHROUGH_HEADERS = Map.of("K-Network-Probe", "queue",
      "User-Agent", "Knative-Activator-Probe", "K-Passthrough-Lb", "true");

  private final ProbeClient client;
  private final Loop loop;
  private final ProbeForm form;
  private final boolean h2cMayBeSpoken;
  /** Where a mesh lets a pod's address through when the host names a service; null elsewhere. */
  private final @Nullable String meshHost;
  private Protocol protocol;
  private ProbeTimeout timeout;

  private HttpProber(ProbeClient client, Loop loop, Revision revision, BackendSettings settings) {
    this.client = client;
    this.loop = loop;
    this.form = ProbeForm.of(revision);
    this.h2cMayBeSpoken = revision.protocol() == Protocol.H2C;
    this.meshHost = settings.addressing().get().passthrough()
        ? PrivateService.nameOf(revision.id().name()) + "." + revision.id().namespace()
        : null;
    this.protocol = form.whoAnswers() == ProbeForm.WhoAnswers.CONTAINER
        ? revision.protocol()
        : Protocol.HTTP1;
    this.timeout = ProbeTimeout.of(settings.probeTimeout());
  }

  /** That of one revision; an annotation that makes no sense is logged and does not count. */
  static HttpProber of(ProbeClient client, Loop loop, Revision revision,
      BackendSettings settings) {
    var path = ProbeForm.annotated(revision);
    if (path != null && !ProbeForm.isPath(path)) {
      log.warn("{}: the annotation {} is '{}', which is no path; the queue-proxy is asked instead",
          revision.id(), ProbeForm.ANNOTATION, path);
    }
    return new HttpProber(client, loop, revision, settings);
  }

  @Override
  public void probe(Destination destination, Consumer<ProbeOutcome> done) {
    var asked = protocol;
    ask(destination, answer -> {
      if (h2cMayBeSpoken && answer instanceof ProbeAnswer.Unintelligible) {
        // Not the other one of what is spoken by now: several may find it out at once.
        protocol = asked == Protocol.H2C ? Protocol.HTTP1 : Protocol.H2C;
        ask(destination, second -> done.accept(outcome(second)));
      } else {
        done.accept(outcome(answer));
      }
    });
  }

  private void ask(Destination destination, Consumer<ProbeAnswer> done) {
    long asked = loop.nanoTime();
    client.ask(loop, request(destination), answer -> {
      heed(answer, Duration.ofNanos(loop.nanoTime() - asked));
      done.accept(answer);
    });
  }

  private void heed(ProbeAnswer answer, Duration took) {
    if (answer instanceof ProbeAnswer.Answered) {
      timeout = timeout.answered(took);
    } else if (answer instanceof ProbeAnswer.TimedOut) {
      timeout = timeout.passed();
    }
  }

  private ProbeRequest request(Destination destination) {
    return meshHost == null
        ? new ProbeRequest(destination, protocol, form.path(), destination.toString(), HEADERS,
            timeout.next())
        : new ProbeRequest(destination, protocol, form.path(), meshHost, PASSTHROUGH_HEADERS,
            timeout.next());
  }

  private ProbeOutcome outcome(ProbeAnswer answer) {
    return switch (answer) {
      case ProbeAnswer.Answered(int status, var body) -> form.judge(status, body);
      case ProbeAnswer.Failed(var reason) -> ProbeOutcome.noAnswer(reason);
      case ProbeAnswer.Unintelligible(var reason) -> ProbeOutcome.noAnswer(reason);
      case ProbeAnswer.TimedOut(var after) ->
        ProbeOutcome.noAnswer("no answer within " + after.toMillis() + " ms");
    };
  }
}
