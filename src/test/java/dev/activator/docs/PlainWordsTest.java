package dev.activator.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Code, pages and names of tests use the field's words, and each type's Javadoc begins with what the type is. */
class PlainWordsTest {
  private static final Set<String> KINDS = Set.of("java", "md", "yaml", "tpl", "txt", "js", "json");

  /** A word and what to write instead. In names and in text, also across a line break. */
  private record Word(Pattern pattern, String instead) {
    static Word of(String pattern, String instead) {
      return new Word(Pattern.compile("(?i)\\b(?:" + pattern.replace(" ", "\\s+") + ")\\b"),
          instead);
    }
  }

  private static final List<Word> WORDS = List.of(
      Word.of("told", "notified, or the protocol's verb"),
      Word.of("heard", "received, reported"),
      Word.of("looks", "reads, checks, seems"),
      Word.of("besides", "and, except, in addition to"),
      Word.of("anew", "again"),
      Word.of("of its own", "its own, separate"),
      Word.of("hears?", "receives"),
      Word.of("asked|unasked", "requested, called, probed, or the protocol's verb"),
      Word.of("tells?|telling", "notifies, reports, shows"),
      Word.of("so many", "the number"),
      Word.of("everybody|anybody", "every user, any client"),
      Word.of("nobody|somebody|whoever|whom", "who or what it is"),
      Word.of("nowhere", "where it is not"),
      Word.of("seldom", "rarely"),
      Word.of("hurried", "e, or what it is"),
      Word.of("what there is", "the name of the thing"),
      Word.of("what it comes to", "the name of the result"));
  /** Only in code: in a page, a person or a gateway may ask. */
  private static final List<Word> WORDS_IN_CODE = List.of(
      Word.of("asks?|asking", "requests, calls, probes, checks"));
  private static final Pattern CONSTANT = Pattern
      .compile("\\b(?:[A-Z0-9]+_)*(?:MOST|LONGEST|USUAL|SHORTEST|DEEPEST)(?:_[A-Z0-9]+)*\\b");
  private static final Pattern CAUGHT = Pattern
      .compile("catch \\((?:final )?[\\w.| \\n]+\\s(?!e\\)|_\\))(\\w+)\\)");
  private static final Pattern TEST = Pattern
      .compile("@\\w*Test\\b[^;]*?\\n +void (\\w+)\\(");
  /** The name of a test as reports show it. */
  private static final Pattern SHOWN = Pattern
      .compile("(?:@DisplayName\\(\\s*|Test\\(name = )\"([^\"]*)\"");
  private static final Pattern DECLARATION = Pattern.compile(
      "^(?:(?:public|final|abstract|sealed|non-sealed) )*(?:class|interface|@interface|record|enum) \\w",
      Pattern.MULTILINE);

  private static Stream<Path> files() throws IOException {
    var files = new ArrayList<Path>();
    for (String root : List.of("src/main/java", "src/main/resources", "docs", "helm", "README.md",
        "CONTRIBUTING.md", "SECURITY.md")) {
      try (var below = Files.walk(Path.of(root))) {
        below.filter(file -> KINDS.contains(kind(file))).forEach(files::add);
      }
    }
    return files.stream().sorted();
  }

  private static String kind(Path file) {
    return file.toString().replaceAll(".*[.]", "");
  }

  private static List<String> findings(Path file) throws IOException {
    var raw = Files.readString(file);
    var text = words(raw.replaceAll("(?m)^[ \\t]*(?:\\*|//)? *", ""));
    boolean isCode = kind(file).equals("java");
    var found = new ArrayList<>(findings(file, text, isCode));
    if (isCode) {
      CONSTANT.matcher(raw).results().forEach(match -> found
          .add(at(file, raw, match.start()) + match.group() + ": MAX_, MIN_, DEFAULT_"));
      CAUGHT.matcher(raw).results().forEach(match -> found
          .add(at(file, raw, match.start()) + "catch (... " + match.group(1) + "): e"));
      if (!file.endsWith("package-info.java") && !beginsWithASentence(raw)) {
        found.add(file + ": the Javadoc does not begin with a sentence");
      }
    }
    return found;
  }

  /** Of names in the text, each word for itself. */
  private static String words(String text) {
    return text.replaceAll("(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ")
        .replace('_', ' ');
  }

  private static List<String> findings(Path file, String words, boolean isCode) {
    return Stream.concat(WORDS.stream(), isCode ? WORDS_IN_CODE.stream() : Stream.of())
        .flatMap(word -> word.pattern().matcher(words).results()
            .map(match -> at(file, words, match.start()) + "'"
                + match.group().toLowerCase(Locale.ROOT) + "': " + word.instead()))
        .toList();
  }

  private static String at(Path file, String text, int offset) {
    return file + ":" + (1 + text.substring(0, offset).chars().filter(c -> c == '\n').count())
        + ": ";
  }

  private static boolean beginsWithASentence(String source) {
    var sentence = javadoc(source);
    return sentence != null
        && sentence.matches("(?s)(?!@|<p>|<b>|Of |Not |Without |Between |Missing |Any )[^.]*[.].*");
  }

  /** Of the first type, as text; null for none. */
  private static @Nullable String javadoc(String source) {
    var declaration = DECLARATION.matcher(source);
    if (!declaration.find()) {
      return null;
    }
    var before = source.substring(0, declaration.start());
    int from = before.lastIndexOf("/**");
    int to = before.indexOf("*/", Math.max(0, from));
    return from < 0 || before.substring(to).contains("\nimport ")
        ? null
        : before.substring(from + 3, to).replaceAll("(?m)^ *\\* ?", "").strip();
  }

  @Test
  void codeAndPagesUsePlainWords() throws Exception {
    var found = new ArrayList<String>();
    for (var file : files().toList()) {
      found.addAll(findings(file));
    }
    assertThat(found).isEmpty();
  }

  @Test
  void testsHavePlainNames() throws Exception {
    var found = new ArrayList<String>();
    try (var below = Files.walk(Path.of("src/test/java"))) {
      for (var file : below.filter(each -> kind(each).equals("java")).sorted().toList()) {
        var text = Files.readString(file);
        Stream.concat(TEST.matcher(text).results(), SHOWN.matcher(text).results())
            .map(match -> match.group(1))
            .filter(name -> !findings(file, words(name), true).isEmpty())
            .forEach(name -> found.add(file + ": " + name));
      }
    }
    assertThat(found).isEmpty();
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("sources")
  void findsMissingSentences(String source, boolean hasOne) {
    assertThat(beginsWithASentence(source)).isEqualTo(hasOne);
  }

  static Stream<Object[]> sources() {
    return Stream.of(new Object[]{"/** A queue. */\n@NullMarked\npublic final class Queue {", true},
        new Object[]{"/**\n * A queue\n * of requests.\n */\n// Not shared.\nclass Queue {", true},
        new Object[]{"/** @param size of it */\nrecord Queue(int size) {", false},
        new Object[]{"/**\n * <b>Source.</b> Go.\n */\nclass Queue {", false},
        new Object[]{"/** Of package. */\nimport a;\nimport b;\nclass Queue {", false},
        new Object[]{"/** Not thread-safe. */\nclass Queue {", false},
        new Object[]{"class Queue {", false});
  }
}
