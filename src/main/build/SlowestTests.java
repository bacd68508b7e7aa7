import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Prints the ten test classes that took the longest, from the reports of Surefire and Failsafe. */
class SlowestTests {
  private static final Pattern SUITE = Pattern
      .compile("<testsuite [^>]*?\\bname=\"(?:dev\\.activator\\.)?([^\"]+)\"[^>]*?\\btime=\"([0-9.,]+)\"");

  /** @param args the folders of the reports; one may not exist */
  public static void main(String[] args) throws IOException {
    var seconds = new TreeMap<String, Double>();
    for (var folder : args) {
      if (Files.isDirectory(Path.of(folder))) {
        read(Path.of(folder), seconds);
      }
    }
    System.out.println("Slowest test classes: " + seconds.entrySet().stream()
        .sorted(Map.Entry.<String, Double>comparingByValue(Comparator.reverseOrder())).limit(10)
        .map(entry -> "%s %.0f s".formatted(entry.getKey(), entry.getValue()))
        .collect(Collectors.joining(", ")));
  }

  private static void read(Path folder, Map<String, Double> seconds) throws IOException {
    List<Path> reports;
    try (var files = Files.list(folder)) {
      reports = files.filter(file -> file.getFileName().toString().startsWith("TEST-")).toList();
    }
    for (var report : reports) {
      var suite = SUITE.matcher(Files.readString(report));
      if (suite.find()) {
        seconds.merge(suite.group(1), Double.parseDouble(suite.group(2).replace(",", "")),
            Double::sum);
      }
    }
  }
}
