package dev.activator.config;

import java.util.Map;

/**
 * The setting of the ConfigMap {@code config-deployment} that concerns waiting requests.
 *
 * <p><b>Source.</b> {@code pkg/deployment/config.go} of Knative Serving. Its other settings are for
 * the controller, so they are not checked here.
 *
 * @param podIsAlwaysSchedulable whether a pod that no node takes gets one sooner or later
 */
public record DeploymentConfig(boolean podIsAlwaysSchedulable) {
  public static final String NAME = "config-deployment";

  public static ParsedSettings<DeploymentConfig> parse(Map<String, String> data) {
    var entries = new SettingsParser(data);
    boolean always = entries.flag("pod-is-always-schedulable");
    return ParsedSettings.of(entries.problems(), () -> new DeploymentConfig(always));
  }
}
