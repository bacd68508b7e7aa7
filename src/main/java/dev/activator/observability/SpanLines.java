package dev.activator.observability;

import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.time.Instant;
import java.util.Collection;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * An exporter that writes each span as a line of JSON.
 *
 * <p><b>Source.</b> {@code stdouttrace} of OpenTelemetry for Go.
 */
final class SpanLines implements SpanExporter {
  private static final JsonMapper JSON = JsonMapper.builder().build();

  private final LineWriter out;

  public SpanLines(LineWriter out) {
    this.out = out;
  }

  @Override
  public CompletableResultCode export(Collection<SpanData> spans) {
    spans.forEach(span -> out.write(line(span) + "\n"));
    return CompletableResultCode.ofSuccess();
  }

  private static ObjectNode line(SpanData span) {
    var line = JSON.createObjectNode().put("Name", span.getName());
    line.putObject("SpanContext").put("TraceID", span.getTraceId()).put("SpanID",
        span.getSpanId());
    line.putObject("Parent").put("SpanID", span.getParentSpanId());
    line.put("SpanKind", span.getKind().name()).put("StartTime", time(span.getStartEpochNanos()))
        .put("EndTime", time(span.getEndEpochNanos()));
    var attributes = line.putObject("Attributes");
    span.getAttributes().forEach((key, value) -> attributes.put(key.getKey(), value.toString()));
    line.putObject("Status").put("Code", span.getStatus().getStatusCode().name())
        .put("Description", span.getStatus().getDescription());
    return line;
  }

  private static String time(long epochNanos) {
    return Instant.EPOCH.plusNanos(epochNanos).toString();
  }

  @Override
  public CompletableResultCode flush() {
    return CompletableResultCode.ofSuccess();
  }

  @Override
  public CompletableResultCode shutdown() {
    return CompletableResultCode.ofSuccess();
  }
}
