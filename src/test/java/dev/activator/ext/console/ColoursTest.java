package dev.activator.ext.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.core.io.ClassPathResource;

/**
 * Colours that can be told apart.
 *
 * <p><b>Source.</b> Contrast (minimum) and non-text contrast of the WCAG 2.2.
 */
class ColoursTest {
  private static final double OF_TEXT = 4.5;
  private static final double OF_PICTURES = 3;
  private static final Pattern COLOUR = Pattern.compile("--([a-z-]+): #([0-9a-f]{3,6});");

  private static Map<String, String> colours(String file, boolean dark) throws IOException {
    var schemes = new ClassPathResource(file).getContentAsString(StandardCharsets.UTF_8)
        .split("prefers-color-scheme: dark");
    return COLOUR.matcher(schemes[dark ? 1 : 0]).results()
        .collect(Collectors.toMap(found -> found.group(1), ColoursTest::long6));
  }

  private static String long6(MatchResult found) {
    var hex = found.group(2);
    return hex.length() == 6 ? hex : hex.replaceAll("(.)", "$1$1");
  }

  private static double contrast(String one, String other) {
    double a = luminance(one);
    double b = luminance(other);
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  }

  private static double luminance(String colour) {
    var parts = IntStream.of(0, 2, 4)
        .mapToDouble(at -> Integer.parseInt(colour.substring(at, at + 2), 16) / 255.0)
        .map(part -> part <= 0.03928 ? part / 12.92 : Math.pow((part + 0.055) / 1.055, 2.4))
        .toArray();
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  }

  @ParameterizedTest
  @CsvSource({"console/console.css, false", "console/console.css, true",
      "waiting-page/page.css, false", "waiting-page/page.css, true"})
  void canBeReadAndDistinguished(String file, boolean dark) throws IOException {
    var colours = colours(file, dark);

    for (var on : new String[]{"card", "bg"}) {
      for (var text : new String[]{"text", "soft", "link", "bad"}) {
        check(colours, text, on, OF_TEXT);
      }
    }
    for (var state : new String[]{"good", "busy", "warn", "bad", "idle"}) {
      check(colours, state, state + "-bg", OF_TEXT);
    }
    for (var phase : new String[]{"pod", "probe", "queue", "dial", "first-byte", "scale", "create",
        "schedule", "prepare", "init", "container", "list", "listen", "answer"}) {
      check(colours, phase, "line", OF_PICTURES);
      check(colours, phase, "card", OF_PICTURES);
    }
  }

  private static void check(Map<String, String> colours, String one, String on, double least) {
    if (colours.containsKey(one) && colours.containsKey(on)) {
      assertThat(contrast(colours.get(one), colours.get(on))).as("%s on %s", one, on)
          .isGreaterThanOrEqualTo(least);
    }
  }
}
