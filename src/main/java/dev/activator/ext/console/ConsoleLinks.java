package dev.activator.ext.console;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Links from the console to other tools. They are URL templates with placeholders such as
 * {@code {revision}}.
 *
 * @param log the log of a revision; empty for none, like the others
 * @param dashboard the dashboard of a revision
 * @param runbook the runbook of an alert
 */
public record ConsoleLinks(String log, String dashboard, String runbook) {
  private static final Pattern PLACE = Pattern.compile("\\{([^{}]*)}");
  private static final List<String> OF_REVISION = List.of("namespace", "service", "revision");
  private static final List<String> OF_ALERT = List.of("alert");

  /**
   * @throws IllegalArgumentException that names the link, if it is not a URL or has an unknown
   *     placeholder
   */
  public ConsoleLinks {
    check("log", log, OF_REVISION);
    check("dashboard", dashboard, OF_REVISION);
    check("runbook", runbook, OF_ALERT);
  }

  private static void check(String name, String template, List<String> places) {
    if (!template.isEmpty() && !template.matches("(?:https?://|/(?!/)).*")) {
      throw new IllegalArgumentException(
          name + " '" + template + "' does not begin with http://, https:// or /");
    }
    PLACE.matcher(template).results().map(found -> found.group(1))
        .filter(place -> !places.contains(place)).findFirst().ifPresent(place -> {
          throw new IllegalArgumentException(name + " '" + template + "' has the unknown place {"
              + place + "}; there are {" + String.join("}, {", places) + "}");
        });
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
