package dev.activator.app.properties;

import dev.activator.config.SettingPreconditions;
import dev.activator.console.ConsoleLinks;
import java.util.List;
import java.util.Objects;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Links from the console to other tools.
 *
 * @param log address of a revision's log, with {namespace}, {service} and {revision} where these are to be; empty for none
 * @param dashboard address of a revision's dashboard, with the same places; empty for none
 * @param runbook address of an alert's runbook, with {alert} where its name in lower case is to be; empty for none
 */
@ConfigurationProperties("activator.console.links")
public record ConsoleLinksProperties(@DefaultValue("") String log,
    @DefaultValue("") String dashboard,
    @DefaultValue("https://github.com/activator-dev/activator/blob/main/docs/operations.md#{alert}") String runbook) {
  public ConsoleLinksProperties {
    try {
      var _ = new ConsoleLinks(log, dashboard, runbook);
    } catch (IllegalArgumentException e) {
      SettingPreconditions.check(false, "activator.console.links", List.of(log, dashboard, runbook),
          Objects.requireNonNull(e.getMessage()));
    }
  }

  public ConsoleLinks links() {
    return new ConsoleLinks(log, dashboard, runbook);
  }
}
