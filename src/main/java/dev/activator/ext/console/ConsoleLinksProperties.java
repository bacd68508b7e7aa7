package dev.activator.ext.console;

import dev.activator.config.SettingPreconditions;
import java.util.List;
import java.util.Objects;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Links from the console to other tools.
 *
 * @param log the URL of a revision's log, with the placeholders {namespace}, {service} and
 *     {revision}; empty for none
 * @param dashboard the URL of a revision's dashboard, with the same placeholders; empty for none
 * @param runbook the URL of an alert's runbook, with the placeholder {alert} for its name in lower
 *     case; empty for none
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
