package dev.activator.docs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A page of Markdown: where it links to, and what can be linked to in it.
 *
 * @param file where it is
 * @param text its lines without code, in which brackets mean something else
 */
record Page(Path file, List<String> text) {
  private static final Pattern LINK = Pattern.compile("]\\(([^)\\s]+)\\)");
  private static final Pattern CODE = Pattern.compile("`[^`]*`");

  static Page of(Path file) {
    try {
      return new Page(file, withoutCode(Files.readAllLines(file)));
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Those at the top of the project, and all under docs and helm. */
  static List<Page> all() {
    try (var top = Files.list(Path.of(""));
        var docs = Files.walk(Path.of("docs"));
        var chart = Files.walk(Path.of("helm"))) {
      return Stream.of(top, docs, chart).flatMap(files -> files)
          .filter(file -> file.toString().endsWith(".md")).sorted().map(Page::of).toList();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private static List<String> withoutCode(List<String> lines) {
    var text = new ArrayList<String>();
    boolean code = false;
    for (String line : lines) {
      if (line.stripLeading().startsWith("```")) {
        code = !code;
      } else if (!code) {
        text.add(line);
      }
    }
    return text;
  }

  /** Targets of links that are not on the web. */
  List<String> links() {
    // A link may be broken between two lines, but not within its target.
    return LINK.matcher(CODE.matcher(String.join("\n", text)).replaceAll("code")).results()
        .map(found -> found.group(1)).filter(target -> !target.matches("[a-z]+:.*")).toList();
  }

  /** The file a link means; this one for a link within it. */
  Path target(String link) {
    String path = link.replaceAll("#.*", "");
    return path.isEmpty() ? file : Path.of("").resolve(file).resolveSibling(path).normalize();
  }

  /** The names of headings, as GitHub makes them; a second one of a name gets a number. */
  Set<String> anchors() {
    var anchors = new HashSet<String>();
    var seen = new HashMap<String, Integer>();
    for (String line : text) {
      if (line.matches("#{1,6} .*")) {
        String name = line.replaceFirst("#+ ", "").toLowerCase(Locale.ROOT)
            .replaceAll("[^\\p{L}\\p{N} _-]", "").replace(' ', '-');
        int times = seen.merge(name, 1, Integer::sum);
        anchors.add(times == 1 ? name : name + "-" + (times - 1));
      }
    }
    return anchors;
  }

  @Override
  public String toString() {
    return file.toString();
  }
}
