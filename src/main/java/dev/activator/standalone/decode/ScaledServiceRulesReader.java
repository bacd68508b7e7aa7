package dev.activator.standalone.decode;

import dev.activator.config.ColdStartRulesReader;
import dev.activator.config.ConfigValue;
import dev.activator.revision.ColdStartRules.DoNotWakeRule;
import dev.activator.standalone.policy.ScaledServiceRoute;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The reader of {@code spec.rules} of a ScaledService.
 *
 * <p><b>Errors.</b> An invalid rule is left out, and is listed in the problems of the result.
 */
public final class ScaledServiceRulesReader {
  private static final String FIELD = "spec.rules";
  private static final int MAX_RULES = 32;
  private static final int MAX_HOSTS = 64;
  private static final int MAX_HEADERS = 8;
  private static final int MAX_LENGTH = 1024;
  private static final int MAX_HOST_LENGTH = 253;
  private static final int MAX_PORT_LENGTH = 63;
  /**
   * Parts of a path that proxies in front may change. The rule would then match only in front of
   * them or behind them.
   */
  private static final Pattern AMBIGUOUS = Pattern.compile("//|/[.][.]?(/|$)|%2[fF]|[?#]");
  private static final Pattern PATH = Pattern.compile("/[!-~]*");

  private ScaledServiceRulesReader() {}

  /** @param problems a sentence for each rule that was left out */
  public record Read(List<ScaledServiceRoute> rules, List<String> problems) {}

  /** @param value the value of the field; null if it is absent */
  public static Read read(@Nullable Object value) {
    var rules = new ArrayList<ScaledServiceRoute>();
    var problems = new ArrayList<String>();
    try {
      for (var one : new ConfigValue(FIELD, value).items(MAX_RULES)) {
        try {
          rules.add(rule(one));
        } catch (IllegalArgumentException e) {
          problems.add(String.valueOf(e.getMessage()));
        }
      }
    } catch (IllegalArgumentException e) {
      problems.add(String.valueOf(e.getMessage()));
    }
    return new Read(rules, problems);
  }

  private static ScaledServiceRoute rule(ConfigValue rule) {
    rule.object("hosts", "path", "pathPrefix", "headers", "serviceRef");
    var hosts = new ArrayList<String>();
    for (var host : rule.field("hosts").items(MAX_HOSTS)) {
      var text = host.text(MAX_HOST_LENGTH);
      if (text == null || text.isEmpty()) {
        throw host.mustBe("a host such as shop.example.com or *.example.com");
      }
      hosts.add(text.toLowerCase(Locale.ROOT));
    }
    var headers = new ArrayList<DoNotWakeRule.Header>();
    var names = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
    for (var one : rule.field("headers").items(MAX_HEADERS)) {
      var header = ColdStartRulesReader.header(one);
      ColdStartRulesReader.addNew(header.name(), names, one);
      headers.add(header);
    }
    return new ScaledServiceRoute(hosts, path(rule), headers, port(rule.field("serviceRef")));
  }

  private static ScaledServiceRoute.@Nullable Path path(ConfigValue rule) {
    var exact = rule.field("path");
    var prefix = rule.field("pathPrefix");
    if (!exact.isAbsent() && !prefix.isAbsent()) {
      throw new IllegalArgumentException(
          rule.path() + " has both path and pathPrefix, but may have one");
    }
    var field = exact.isAbsent() ? prefix : exact;
    var text = field.text(MAX_LENGTH);
    if (text == null) {
      return null;
    }
    if (!PATH.matcher(text).matches() || AMBIGUOUS.matcher(text).find()) {
      throw field.mustBe(
          "a path as callers send it, that begins with / and has no //, /./, /../, %2F, ? or #");
    }
    if (exact.isAbsent() && text.endsWith("/*")) {
      throw field.mustBe("a prefix without *, as it matches what is below it");
    }
    return new ScaledServiceRoute.Path(text, exact.isAbsent());
  }

  private static String port(ConfigValue service) {
    if (service.isAbsent()) {
      return "";
    }
    var port = service.object("port").field("port");
    return switch (port.value()) {
      case Integer number when number > 0 && number <= 65_535 -> number.toString();
      case String name when !name.isEmpty() && name.length() <= MAX_PORT_LENGTH -> name;
      case null, default -> throw port.mustBe("the name or the number of a port of the Service");
    };
  }
}
