import dev.activator.config.ActivatorMode;
import java.io.File;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.stream.Stream;
import javax.tools.ToolProvider;

/**
 * Writes down, as code, which beans each mode has and how they are made, so that a start need not find
 * it out: Spring's ahead-of-time processing, once for each mode. What comes out is the content of the
 * jar; the classes that tests and {@code spring-boot:run} use stay as they were compiled. The first class
 * of the jar is compiled for an older Java, too, so that it can say which one is needed.
 *
 * <p>
 * <b>Errors.</b> The exit code is 1 if a mode cannot be wired, if the two want different code under one
 * name, or if something does not compile.
 */
class Wiring {
  private static final Path PROCESSOR = Path.of("src/main/build/ModeProcessor.java");
  private static final Path LAUNCHER = Path.of("src/main/java/dev/activator/JavaVersionCheck.java");
  /** That Spring Boot's own classes at the front of the jar need. */
  private static final String OLDEST_JAVA = "17";

  private final Path notes;
  private final Path sources;
  private final Path processor;

  private Wiring(Path notes) {
    this.notes = notes;
    this.sources = notes.resolve("sources");
    this.processor = notes.resolve("processor");
  }

  /**
   * Run in the project's folder.
   *
   * @param args the folder of compiled classes, one for notes, the one to fill, and Java's version
   */
  public static void main(String[] args) throws Exception {
    var classes = Path.of(args[0]);
    var content = Path.of(args[2]);
    var wiring = new Wiring(Path.of(args[1]));
    delete(wiring.notes);
    delete(content);
    copy(classes, content);
    compile(wiring.processor, args[3], List.of(PROCESSOR));
    // Each in a process of its own, as a process of Spring has one set of settings for its log; side by side.
    var written = Stream.of(ActivatorMode.values()).parallel()
        .map(mode -> wiring.write(mode.name())).toList();
    for (var out : written) {
      merge(out.resolve("sources"), wiring.sources);
      merge(out.resolve("classes"), content);
    }
    compile(content, args[3], files(wiring.sources));
    compile(content, OLDEST_JAVA, List.of(LAUNCHER));
    // Read by Spring, of the class path and of nothing else: code that is there is used.
    Files.writeString(content.resolve("spring.properties"), "spring.aot.enabled=true\n");
  }

  /** Returns the folder of what was written for this mode. */
  private Path write(String mode) {
    var out = notes.resolve(mode);
    // Hints for native images, and a log's settings that would be those of one mode in both.
    var unused = out.resolve("resources");
    var command = List.of(ProcessHandle.current().info().command().orElseThrow(),
        // It ends before the second compiler would pay.
        "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-classpath",
        processor.toAbsolutePath() + File.pathSeparator + System.getProperty("java.class.path"),
        "ModeProcessor", mode,
        out.resolve("sources").toString(), unused.toString(), out.resolve("classes").toString());
    try {
      run(command, Files.createDirectories(notes.resolve("nowhere")));
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException("the wiring of mode " + mode + " cannot be written down", e);
    }
    return out;
  }

  /** Without variables and files of who builds: what is decided here holds wherever the jar runs. */
  private static void run(List<String> command, Path folder)
      throws IOException, InterruptedException {
    var builder = new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true);
    builder.environment().clear();
    var process = builder.start();
    var said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (process.waitFor() != 0) {
      throw new IllegalStateException("Spring cannot write down the wiring: " + said);
    }
  }

  /** What is common to the modes is written by each; it must be the same, since one is kept. */
  private static void merge(Path from, Path to) throws IOException {
    for (var file : files(from)) {
      var target = to.resolve(from.relativize(file).toString());
      if (Files.exists(target) && Files.mismatch(file, target) >= 0) {
        throw new IllegalStateException("the modes differ in " + from.relativize(file)
            + ": make what differs a configuration that one of them imports");
      }
    }
    copy(from, to);
  }

  private static void compile(Path content, String release, List<Path> sources)
      throws IOException {
    var compiler = ToolProvider.getSystemJavaCompiler();
    var said = new StringWriter();
    try (var manager = compiler.getStandardFileManager(null, null, null)) {
      var classPath = content + File.pathSeparator + System.getProperty("java.class.path");
      var options = List.of("--release", release, "-nowarn", "-parameters", "-proc:none",
          "-d", content.toString(), "-classpath", classPath);
      var units = manager.getJavaFileObjectsFromPaths(sources);
      if (!compiler.getTask(said, manager, null, options, null, units).call()) {
        throw new IllegalStateException("the content of the jar does not compile: " + said);
      }
    }
  }

  /** In an order that does not change from one build to the next. */
  private static List<Path> files(Path folder) throws IOException {
    if (!Files.exists(folder)) {
      return List.of();
    }
    try (Stream<Path> all = Files.walk(folder)) {
      return all.filter(Files::isRegularFile).sorted().toList();
    }
  }

  private static void copy(Path from, Path to) throws IOException {
    for (var file : files(from)) {
      var target = to.resolve(from.relativize(file).toString());
      Files.createDirectories(target.getParent());
      Files.copy(file, target, StandardCopyOption.REPLACE_EXISTING,
          StandardCopyOption.COPY_ATTRIBUTES);
    }
  }

  private static void delete(Path folder) throws IOException {
    if (Files.exists(folder)) {
      try (Stream<Path> all = Files.walk(folder)) {
        for (var one : all.toList().reversed()) {
          Files.delete(one);
        }
      }
    }
  }
}
