package dev.activator.ext.coldstarts;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The settings for the labels of metrics.
 *
 * @param coldStartLabels the labels of the histogram of cold starts: {@code revision} for namespace
 *     and revision, of up to 100 revisions, or {@code none}
 */
@ConfigurationProperties("activator.metrics")
public record ColdStartProperties(
    @DefaultValue("none") ColdStartRecorder.LabelledBy coldStartLabels) {}
