package dev.activator.ext.console;

import dev.activator.ext.console.RevisionWaitReport.PodReport;
import dev.activator.revision.RevisionId;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * Renders the console's reports as text for a terminal, for {@code ?format=text} and {@code
 * kubectl activator}.
 */
final class TextReports {
  private static final String ROW = "%-40s %-16s %9s %7s %8s %6s  %s%n";

  private TextReports() {}

  static String of(RevisionWaitReport report) {
    var text = new StringBuilder();
    text.append(report.revision()).append(": ").append(report.state()).append('\n');
    text.append(report.summary()).append('\n');
    text.append(report.whatToDo()).append('\n');
    list(text, "Missing", report.missing());
    var requests = report.requests();
    if (requests != null) {
      line(text, "Requests",
          requests.inFlight() + " in flight, " + requests.queued() + " queued of at most "
              + requests.queueCapacity() + ", the oldest for "
              + seconds(requests.oldestWaitSeconds()));
      line(text, "Capacity", requests.capacity() == null
          ? "no limit"
          : requests.capacity() + " requests at once, " + requests.containerConcurrency()
              + " a pod");
    }
    var start = report.start();
    if (start != null && start.requestedSecondsAgo() != null) {
      line(text, "Start", "requested " + seconds(start.requestedSecondsAgo()) + " ago"
          + (start.usualSeconds() == null
              ? ""
              : ", usually takes " + seconds(start.usualSeconds())));
    }
    if (start != null && start.waitsFor() != null) {
      line(text, "", start.waitsFor());
    }
    if (start != null && start.phaseSeconds() != null) {
      line(text, "", start.phaseSeconds().entrySet().stream()
          .map(phase -> phase.getKey() + " " + seconds(phase.getValue()))
          .collect(Collectors.joining(", ")));
    }
    if (start != null && start.failure() != null) {
      line(text, "Failure", start.failure().reason() + ": " + start.failure().message());
    }
    var scaling = report.scaling();
    if (scaling != null) {
      line(text, "Scaling", (scaling.replicas() == null ? "?" : scaling.replicas()) + " replicas, "
          + (scaling.desired() == null ? "?" : scaling.desired()) + " desired"
          + (scaling.state().isEmpty() ? "" : ", " + scaling.state()) + ": "
          + scaling.explanation());
    }
    if (report.pods() != null) {
      list(text, "Pods", report.pods().stream().map(TextReports::pod).toList());
    }
    if (report.processes() != null) {
      list(text, "Output", report.processes().output());
    }
    return text.toString();
  }

  private static String pod(PodReport pod) {
    var facts = (pod.ready() ? "ready" : "not ready") + ", "
        + (pod.answers() ? "answers" : "does not answer")
        + (pod.ejected() ? ", ejected" : "") + ", " + pod.inFlight() + " in flight, probe: "
        + pod.probe().outcome();
    var permits = pod.permits();
    return pod.address() + " " + facts + (permits == null
        ? ""
        : ", " + permits.held() + " permits here"
            + (permits.owner() == null ? "" : ", owner " + permits.owner()));
  }

  static String of(WaitingOverview overview) {
    var text = new StringBuilder(overview.summary()).append('\n');
    for (var each : overview.waiting()) {
      text.append(each.revision()).append(": ").append(each.summary()).append(' ')
          .append(each.whatToDo())
          .append('\n');
    }
    return text.toString();
  }

  /** A line for each revision. Those for which requests have waited longest come first. */
  static String table(List<RevisionSnapshot> revisions) {
    return ROW.formatted("REVISION", "STATE", "IN-FLIGHT", "QUEUED", "OLDEST", "PODS", "WHY")
        + revisions.stream()
            .sorted(Comparator
                .<RevisionSnapshot, Duration>comparing(one -> one.queue().now().oldestWait())
                .thenComparing(RevisionSnapshot::inFlight).reversed()
                .thenComparing(RevisionSnapshot::revision,
                    Comparator.comparing(RevisionId::toString)))
            .map(TextReports::row).collect(Collectors.joining());
  }

  private static String row(RevisionSnapshot now) {
    var diagnosis = WaitDiagnosis.of(now);
    return ROW.formatted(now.revision(), diagnosis.state(), now.inFlight(), now.queued(),
        now.queued() == 0
            ? "-"
            : seconds(RevisionWaitReport.seconds(now.queue().now().oldestWait())),
        now.pods().size(), now.queued() == 0 ? "" : diagnosis.summary());
  }

  private static void line(StringBuilder text, String name, String value) {
    text.append(String.format(Locale.ROOT, "%-10s %s%n", name, value));
  }

  private static void list(StringBuilder text, String name, List<String> values) {
    for (int i = 0; i < values.size(); i++) {
      line(text, i == 0 ? name : "", values.get(i));
    }
  }

  private static String seconds(double seconds) {
    return String.format(Locale.ROOT, "%.1f s", seconds);
  }
}
