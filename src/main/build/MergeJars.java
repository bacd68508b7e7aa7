import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.LocalDateTime;
import java.util.Arrays;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.jar.Attributes.Name;
import java.util.jar.JarFile;
import java.util.jar.Manifest;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;
import org.springframework.asm.ClassReader;
import org.springframework.asm.ClassVisitor;
import org.springframework.asm.ClassWriter;
import org.springframework.asm.Label;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.SpringAsmInfo;

/**
 * Makes one jar of an application's libraries. A start opens each jar, and searches all of them for each class or resource
 * that does not exist. Of all classes, those of the application too, the names and types of local variables are left out: only
 * debuggers and messages of NullPointerExceptions show them, but the AOT cache holds them, and a process maps all of it.
 * {@link LinkedCalls} says what else is written in another way.
 *
 * <p>The jar is not compressed: a layer of an image compresses it as a whole, to three quarters of what jars take that are
 * compressed file by file.
 */
class MergeJars {
  private static final String MERGED = "libraries.jar";
  private static final String CLASS = ".class";
  /** What describes one jar only, and the libraries that are loaded from their own folder. */
  private static final Pattern LEFT_OUT = Pattern.compile("META-INF/(MANIFEST\\.MF|INDEX\\.LIST|[^/]+\\.(SF|RSA|DSA|EC))"
      + "|META-INF/native/.*|(.*/)?module-info\\.class");
  /** What is read from all jars, line by line. */
  private static final Pattern LINES = Pattern.compile("META-INF/(services/.*|.*\\.(imports|properties))");
  /** What is read from all jars, whose values are lists. */
  private static final Pattern LISTS = Pattern.compile("META-INF/.*\\.factories");
  /** By this scanners find what a jar consists of; jars that Gradle made do not have it. */
  private static final Pattern COORDINATES = Pattern.compile("META-INF/maven/.*/pom\\.properties");
  private static final Pattern LIBRARY = Pattern.compile("pkg:maven/([^/]+)/([^@]+)@([^?\"]+)");

  /** By the names of their jars. */
  private final Map<String, MatchResult> libraries;
  private final Map<String, byte[]> content = new TreeMap<>();
  private long newestMillis;

  private MergeJars(String materials) {
    libraries = LIBRARY.matcher(materials).results()
        .collect(Collectors.toMap(one -> one.group(2) + "-" + one.group(3) + ".jar", one -> one, (a, b) -> a));
  }

  /** @param args the folder of the jars; that of the application, whose manifest and classes are written again */
  public static void main(String[] args) throws IOException {
    var folder = Path.of(args[0]);
    var application = Path.of(args[1]);
    var file = application.resolve(JarFile.MANIFEST_NAME);
    var manifest = new Manifest(new ByteArrayInputStream(Files.readAllBytes(file)));
    var names = manifest.getMainAttributes().getValue(Name.CLASS_PATH).split(" ");
    var merged = new MergeJars(Files.readString(application.resolve("META-INF/sbom/application.cdx.json")));
    for (var name : names) {
      var jar = folder.resolveSibling(name);
      if (Files.exists(jar)) {
        merged.add(jar);
        Files.delete(jar);
      }
    }
    merged.write(folder.resolve(MERGED));
    manifest.getMainAttributes().put(Name.CLASS_PATH, folder.getFileName() + "/" + MERGED);
    try (var to = Files.newOutputStream(file)) {
      manifest.write(to);
    }
    try (var files = Files.walk(application)) {
      for (var each : files.filter(one -> one.toString().endsWith(CLASS)).toList()) {
        Files.write(each, rewritten(Files.readAllBytes(each)));
      }
    }
  }

  private void add(Path path) throws IOException {
    newestMillis = Math.max(newestMillis, Files.getLastModifiedTime(path).toMillis());
    var name = path.getFileName().toString();
    // Of a class for several versions of Java, only that for the image's.
    try (var jar = new JarFile(path.toFile(), false, ZipFile.OPEN_READ, JarFile.runtimeVersion())) {
      jar.versionedStream().filter(entry -> !entry.isDirectory())
          .filter(entry -> !LEFT_OUT.matcher(entry.getName()).matches())
          .forEach(entry -> {
            try (var from = jar.getInputStream(entry)) {
              add(name, entry.getName(), from.readAllBytes());
            } catch (IOException e) {
              throw new UncheckedIOException(e);
            }
          });
      if (jar.stream().noneMatch(entry -> COORDINATES.matcher(entry.getName()).matches())) {
        addCoordinates(name);
      }
    }
  }

  private void addCoordinates(String jar) throws IOException {
    var library = libraries.get(jar);
    if (library == null) {
      throw new IllegalStateException(jar + " is not in the bill of materials");
    }
    add(jar, "META-INF/maven/" + library.group(1) + "/" + library.group(2) + "/pom.properties",
        "groupId=%s\nartifactId=%s\nversion=%s\n".formatted(library.group(1), library.group(2), library.group(3))
            .getBytes(StandardCharsets.ISO_8859_1));
  }

  private void add(String jar, String name, byte[] bytes) throws IOException {
    var first = content.putIfAbsent(name, bytes);
    if (first == null || Arrays.equals(first, bytes)) {
      return;
    }
    if (name.endsWith(CLASS)) {
      throw new IllegalStateException(name + " of " + jar + " is in another jar, too, with other content");
    }
    if (LINES.matcher(name).matches()) {
      content.put(name, (text(first) + "\n" + text(bytes)).getBytes(StandardCharsets.ISO_8859_1));
    } else if (LISTS.matcher(name).matches()) {
      content.put(name, lists(first, bytes).getBytes(StandardCharsets.ISO_8859_1));
    } else {
      // A licence, for instance. Only the first was found by its name before, too.
      content.put("META-INF/" + jar + "/" + name, bytes);
    }
  }

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.ISO_8859_1);
  }

  private static String lists(byte[] first, byte[] second) throws IOException {
    var all = new TreeMap<String, String>();
    for (var bytes : new byte[][]{first, second}) {
      var lists = new Properties();
      lists.load(new ByteArrayInputStream(bytes));
      lists.forEach((key, value) -> all.merge(key.toString(), value.toString(), (a, b) -> a + "," + b));
    }
    return all.entrySet().stream().map(list -> list.getKey() + "=" + list.getValue() + "\n").collect(Collectors.joining());
  }

  private void write(Path file) throws IOException {
    try (var to = new ZipOutputStream(Files.newOutputStream(file))) {
      to.setMethod(ZipOutputStream.STORED);
      var manifest = new Manifest();
      manifest.getMainAttributes().put(Name.MANIFEST_VERSION, "1.0");
      var bytes = new ByteArrayOutputStream();
      manifest.write(bytes);
      put(to, JarFile.MANIFEST_NAME, bytes.toByteArray());
      for (var entry : content.entrySet()) {
        put(to, entry.getKey(),
            entry.getKey().endsWith(CLASS) ? rewritten(entry.getValue()) : entry.getValue());
      }
    }
    Files.setLastModifiedTime(file, FileTime.fromMillis(newestMillis));
  }

  private static byte[] rewritten(byte[] bytes) {
    // It does not get the reader, so that the constant pool is a new one, of what is left.
    var writer = new ClassWriter(0);
    new ClassReader(bytes).accept(new ClassVisitor(SpringAsmInfo.ASM_VERSION, new LinkedCalls(writer)) {
      @Override
      public MethodVisitor visitMethod(int access, String name, String type, String generic, String[] exceptions) {
        return new MethodVisitor(api, super.visitMethod(access, name, type, generic, exceptions)) {
          @Override
          public void visitLocalVariable(String name, String type, String generic, Label from, Label to, int index) {
            // Left out.
          }
        };
      }
    }, 0);
    return writer.toByteArray();
  }

  private static void put(ZipOutputStream to, String name, byte[] bytes) throws IOException {
    var crc = new CRC32();
    crc.update(bytes);
    var entry = new ZipEntry(name);
    entry.setTimeLocal(LocalDateTime.of(2026, 1, 1, 0, 0));
    entry.setSize(bytes.length);
    entry.setCrc(crc.getValue());
    to.putNextEntry(entry);
    to.write(bytes);
  }
}
