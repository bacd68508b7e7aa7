package dev.activator.ext.console;

import dev.activator.config.SettingPreconditions;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The settings {@code activator.console.links}: links from the console to other tools.
 *
 * @param log the URL of a revision's log, with the placeholders {namespace}, {service} and
 *     {revision}; empty for none
 * @param dashboard the URL of a revision's dashboard, with the same placeholders; empty for none
 * @param runbook the URL of an alert's runbook, with the placeholder {alert} for its name in lower
 *     case; empty for none
 */
public record ConsoleLinks(@DefaultValue("") String log,
    @DefaultValue("") String dashboard,
    @DefaultValue("https://github.com/activator-dev/activator/blob/main/docs/operations.md#{alert}") String runbook) {
  static final String PREFIX = "activator.console.links";
  private static final Pattern PLACE = Pattern.compile("\\{([^{}]*)}");
  private static final List<String> OF_REVISION = List.of("namespace", "service", "revision");
  private static final List<String> OF_ALERT = List.of("alert");

  public ConsoleLinks {
    var all = List.of(log, dashboard, runbook);
    check("log", log, OF_REVISION, all);
    check("dashboard", dashboard, OF_REVISION, all);
    check("runbook", runbook, OF_ALERT, all);
  }

  private static void check(String name, String template, List<String> places, List<String> all) {
    SettingPreconditions.check(
        template.isEmpty() || template.matches("(?:https?://|/(?!/)).*"), PREFIX, all,
        name + " '" + template + "' does not begin with http://, https:// or /");
    PLACE.matcher(template).results().map(found -> found.group(1))
        .filter(place -> !places.contains(place)).findFirst()
        .ifPresent(place -> SettingPreconditions.check(false, PREFIX, all,
            name + " '" + template + "' has the unknown place {" + place + "}; there are {"
                + String.join("}, {", places) + "}"));
  }

  /** The links of a card by name. */
  Map<String, String> of(RevisionCardData card) {
    var values = Map.of("namespace", card.id().namespace(), "service", card.service().name(),
        "revision", card.id().name());
    var links = new LinkedHashMap<String, String>();
    if (!log.isEmpty()) {
      links.put("log", fill(log, values));
    }
    if (!dashboard.isEmpty()) {
      links.put("dashboard", fill(dashboard, values));
    }
    return links;
  }

  /** The URL of an alert's runbook; empty for none. */
  String runbook(String alert) {
    return fill(runbook, Map.of("alert", alert.toLowerCase(Locale.ROOT)));
  }

  private static String fill(String template, Map<String, String> values) {
    return PLACE.matcher(template).replaceAll(found -> Matcher.quoteReplacement(
        URLEncoder.encode(values.getOrDefault(found.group(1), ""), StandardCharsets.UTF_8)));
  }
}
