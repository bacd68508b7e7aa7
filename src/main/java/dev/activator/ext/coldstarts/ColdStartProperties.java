package dev.activator.ext.coldstarts;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The settings for the labels of metrics.
 *
 * @param coldStartLabels the labels of the histogram of cold starts. {@code revision}: a label for
 *     the namespace and one for the revision, for up to 100 revisions. {@code none}: neither, so
 *     one histogram for all revisions
 */
@ConfigurationProperties("activator.metrics")
public record ColdStartProperties(
    @DefaultValue("none") ColdStartRecorder.LabelledBy coldStartLabels) {}
