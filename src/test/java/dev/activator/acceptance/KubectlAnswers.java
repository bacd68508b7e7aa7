package dev.activator.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.assertj.core.util.diff.Delta;
import org.assertj.core.util.diff.DiffUtils;

/**
 * What a cluster and embedded mode answered to each command of {@code rows.txt}: the file {@code answers.txt}
 * beside it. A difference without a reason is an error, and so is an answer that is not the one in the file.
 */
final class KubectlAnswers {
  private static final Path FILE = Path.of("src/test/kubectl/answers.txt");
  private static final String NOT_COMPARED = "?~";
  private static final String HEAD = """
      # The answers to the commands of rows.txt: a cluster's and embedded mode's. KubectlRowsIT compares both with this file.
      # Names, times, ages, addresses and other values that differ from run to run are masked, and columns are narrow.
      #
      #   $ COMMAND    a command of the row
      #     LINE       both answer this line
      #   - LINE       only the cluster does
      #   + LINE       only embedded mode does
      #   ? REASON     why they differ, in a row or in the answer to a command; a difference without a reason is an error
      #   ?~ REASON    the answer differs from run to run, so it is not compared
      #
      # "mvn verify" compares the side of embedded mode. -Dkubectl.server=URL compares the side of a cluster, and
      # -Dkubectl.record=true writes the side that ran instead of comparing it.
      """;
  /** What depends on the versions of both ends or on time, and warnings that the rows of embedded mode check. */
  private static final Pattern LEFT_OUT = Pattern
      .compile("^WARNING: version difference| request\\.go:|"
          + "^Waiting for |^Warning: .*: ignored in embedded mode: no image runs here");
  private static final Set<String> FAMILIES = Set.of("auth", "create", "rollout", "set", "top");
  private static final Map<Pattern, String> MASKS = masks();

  private final Map<String, Kept> kept = new HashMap<>();
  private final List<String> order = new ArrayList<>();
  private final boolean cluster;

  /** One command's answers. */
  private record Kept(List<String> reasons, List<String> cluster, List<String> embedded) {
    static final Kept NONE = new Kept(List.of(), List.of(), List.of());

    boolean compared() {
      return reasons.stream().noneMatch(reason -> reason.startsWith(NOT_COMPARED));
    }

    boolean unexplained() {
      return reasons.isEmpty() && differ();
    }

    boolean differ() {
      return !inOrder(cluster).equals(inOrder(embedded));
    }
  }

  /** @param cluster whether the side of a cluster is compared and recorded */
  KubectlAnswers(boolean cluster) throws IOException {
    this.cluster = cluster;
    if (Files.exists(FILE)) {
      read(Files.readAllLines(FILE));
      order.clear();
    }
  }

  private void read(List<String> lines) {
    String row = "";
    String key = "";
    for (var line : lines) {
      if (line.startsWith("row ")) {
        row = line.substring(4);
        key = row;
        kept.put(key, new Kept(new ArrayList<>(), List.of(), List.of()));
      } else if (line.startsWith("  $ ")) {
        key = key(row, line.substring(4));
        kept.put(key, new Kept(new ArrayList<>(), new ArrayList<>(), new ArrayList<>()));
      } else if (line.startsWith("  ?")) {
        kept.get(key).reasons().add(line.strip());
      } else if (line.startsWith("  ")) {
        var text = line.length() > 4 ? line.substring(4) : "";
        if (line.charAt(2) != '+') {
          kept.get(key).cluster().add(text);
        }
        if (line.charAt(2) != '-') {
          kept.get(key).embedded().add(text);
        }
      }
    }
  }

  /** The key of the next command of this row that has these arguments. */
  String key(String row, String arguments) {
    for (int time = 1;; time++) {
      String key = row + "\n" + arguments + (time == 1 ? "" : "\n" + time);
      if (!order.contains(key)) {
        order.add(key);
        return key;
      }
    }
  }

  List<String> unexplained() {
    return kept.entrySet().stream().filter(one -> one.getValue().unexplained())
        .map(Map.Entry::getKey).filter(key -> rowReasons(key).isEmpty()).toList();
  }

  private List<String> rowReasons(String key) {
    return kept.getOrDefault(key.lines().findFirst().orElse(""), Kept.NONE).reasons();
  }

  void check(String key, int code, String answer) {
    var known = kept.get(key);
    assertThat(known).as("answers.txt has no answer to %s: record it", key).isNotNull();
    if (known.compared()) {
      assertThat(inOrder(masked(code, answer))).as(key)
          .isEqualTo(inOrder(cluster ? known.cluster() : known.embedded()));
    }
  }

  void record(String key, int code, String answer) {
    var known = kept.getOrDefault(key, Kept.NONE);
    var lines = known.compared() ? masked(code, answer) : List.<String>of();
    kept.put(key, cluster
        ? new Kept(known.reasons(), lines, known.embedded())
        : new Kept(known.reasons(), known.cluster(), lines));
  }

  void write() throws IOException {
    var text = new StringBuilder(HEAD);
    String row = "";
    for (var key : order) {
      var parts = key.split("\n");
      if (!parts[0].equals(row)) {
        row = parts[0];
        text.append("\nrow ").append(row).append('\n');
        rowReasons(row).forEach(reason -> text.append("  ").append(reason).append('\n'));
      }
      text.append("  $ ").append(parts[1]).append('\n');
      var known = kept.getOrDefault(key, Kept.NONE);
      known.reasons().forEach(reason -> text.append("  ").append(reason).append('\n'));
      if (known.compared()) {
        differences(known).forEach(line -> text.append(line.stripTrailing()).append('\n'));
      }
    }
    Files.writeString(FILE, text);
  }

  private static List<String> differences(Kept known) {
    var lines = new ArrayList<String>();
    int at = 0;
    for (Delta<String> delta : DiffUtils.diff(known.cluster(), known.embedded()).getDeltas()) {
      int position = delta.getOriginal().getPosition();
      known.cluster().subList(at, position).forEach(line -> lines.add("    " + line));
      delta.getOriginal().getLines().forEach(line -> lines.add("  - " + line));
      delta.getRevised().getLines().forEach(line -> lines.add("  + " + line));
      at = position + delta.getOriginal().getLines().size();
    }
    known.cluster().subList(at, known.cluster().size()).forEach(line -> lines.add("    " + line));
    return lines;
  }

  /** Neighbours with generated names come in any order. */
  private static List<String> inOrder(List<String> lines) {
    var ordered = new ArrayList<String>();
    int from = 0;
    for (var line : lines) {
      ordered.add(line);
      if (line.contains("HASH")) {
        Collections.sort(ordered.subList(from, ordered.size()));
      } else {
        from = ordered.size();
      }
    }
    return ordered;
  }

  /** The verbs of commands outside rows that need Knative whose answers differ from a cluster's. */
  Set<String> verbsThatDiffer() {
    return kept.entrySet().stream()
        .filter(one -> one.getKey().contains("\n") && !one.getKey().startsWith("knative:"))
        .filter(one -> !one.getValue().compared() || one.getValue().differ())
        .map(one -> verb(one.getKey().split("\n")[1]))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** One word, or two of verbs with verbs of their own. */
  static String verb(String arguments) {
    var words = arguments.split(" ");
    return FAMILIES.contains(words[0]) && !words[1].startsWith("-")
        ? words[0] + " " + words[1]
        : words[0];
  }

  private static List<String> masked(int code, String answer) {
    var lines = new ArrayList<String>();
    for (var line : answer.lines().toList()) {
      if (line.isBlank() || LEFT_OUT.matcher(line).find()) {
        continue;
      }
      for (var mask : MASKS.entrySet()) {
        line = mask.getKey().matcher(line).replaceAll(mask.getValue());
      }
      lines.add(line.stripTrailing());
    }
    if (code != 0) {
      lines.add("(exit " + code + ")");
    }
    return lines;
  }

  private static Map<Pattern, String> masks() {
    var masks = new LinkedHashMap<Pattern, String>();
    masks.put(Pattern.compile("/tmp/[^ :]*/"), "");
    masks.put(Pattern.compile("https?://[0-9.]+:[0-9]+"), "URL");
    masks.put(Pattern.compile("(localhost:|port |process )\\d+"), "$1N");
    masks.put(Pattern.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "UID");
    masks.put(Pattern.compile("\\d{4}-\\d\\d-\\d\\dT[0-9:.]+(Z|[+-]\\d\\d:?\\d\\d)"), "TIME");
    masks.put(Pattern.compile("\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d\\.\\d+ \\+\\d{4}"),
        "TIME");
    masks.put(Pattern.compile("^W\\d{4} \\S+ +\\d+ (\\S+\\.go):\\d+]"), "W $1]");
    masks.put(Pattern.compile("\\w{3}, \\d\\d \\w{3} \\d{4} [0-9:]+ [+-]\\d{4}"), "TIME");
    masks.put(Pattern.compile("\\d+\\.\\d+\\.\\d+\\.\\d+(:\\d+)?"), "IP");
    masks.put(
        Pattern.compile("-[bcdfghjklmnpqrstvwxz2456789]{8,10}-[bcdfghjklmnpqrstvwxz2456789]{5}\\b"),
        "-HASH-POD");
    masks.put(Pattern.compile("([-=])[bcdfghjklmnpqrstvwxz2456789]{8,10}\\b"), "$1HASH");
    masks.put(Pattern.compile("(?<=resourceVersion\"?: \")\\d+(?=\")"), "N");
    masks.put(Pattern.compile("(?<![\\w.-])(\\d+(ms|[smhd]))+(?![\\w.-])"), "AGE");
    masks.put(Pattern.compile("(?<=\\S) {2,}"), "  ");
    return masks;
  }
}
