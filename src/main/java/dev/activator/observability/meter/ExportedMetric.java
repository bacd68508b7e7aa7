package dev.activator.observability.meter;

import io.opentelemetry.sdk.common.InstrumentationScopeInfo;
import io.opentelemetry.sdk.metrics.data.Data;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.metrics.data.MetricDataType;
import io.opentelemetry.sdk.resources.Resource;

/**
 * One meter as OpenTelemetry's exporters take it.
 *
 * @param resource what measured it
 * @param scope which part of that
 * @param name with dots
 * @param description a sentence
 * @param unit in UCUM
 * @param type of {@code data}
 * @param data all series
 */
public record ExportedMetric(Resource resource, InstrumentationScopeInfo scope, String name,
    String description, String unit, MetricDataType type, Data<?> data) implements MetricData {

  @Override
  public Resource getResource() {
    return resource;
  }

  @Override
  public InstrumentationScopeInfo getInstrumentationScopeInfo() {
    return scope;
  }

  @Override
  public String getName() {
    return name;
  }

  @Override
  public String getDescription() {
    return description;
  }

  @Override
  public String getUnit() {
    return unit;
  }

  @Override
  public MetricDataType getType() {
    return type;
  }

  @Override
  public Data<?> getData() {
    return data;
  }
}
