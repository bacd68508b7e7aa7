package dev.activator.app.properties;

import dev.activator.observability.ColdStartRecorder;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The labels of metrics.
 *
 * @param coldStartLabels revision: the histogram of cold starts has the labels of the namespace and the
 *        revision, for up to 100 revisions; none: for all together
 */
@ConfigurationProperties("activator.metrics")
public record MetricLabelProperties(
    @DefaultValue("none") ColdStartRecorder.LabelledBy coldStartLabels) {}
