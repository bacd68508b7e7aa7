package dev.activator.docs;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.classfile.Attributes;
import java.lang.classfile.ClassFile;
import java.lang.classfile.attribute.SourceFileAttribute;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is in the one jar that {@code bin/image-root} makes of the libraries. */
class MergeJarsTest {
  private static final String SERVICE = "META-INF/services/x.Service";
  private static final String FACTORIES = "META-INF/spring.factories";

  @TempDir
  Path directory;
  private Path folder;
  private Path manifest;

  @BeforeEach
  void manifestOfTwoJars() throws IOException {
    folder = Files.createDirectory(directory.resolve("lib"));
    var application = Files.createDirectories(directory.resolve("content/META-INF/sbom"))
        .resolve("../..").normalize();
    manifest = Files.writeString(application.resolve(JarFile.MANIFEST_NAME),
        "Manifest-Version: 1.0\nMain-Class: x.Main\nClass-Path: lib/b-1.jar lib/a-1.jar lib/none-1.jar\n\n");
    Files.writeString(application.resolve("META-INF/sbom/application.cdx.json"),
        "{\"purl\": \"pkg:maven/x/a@1?type=jar\"}, {\"purl\": \"pkg:maven/x/b@1?type=jar\"}");
  }

  private void jar(String name, String attribute, Map<String, String> entries) throws IOException {
    var file = folder.resolve(name);
    try (var jar = new JarOutputStream(Files.newOutputStream(file))) {
      jar.putNextEntry(new JarEntry(JarFile.MANIFEST_NAME));
      jar.write(("Manifest-Version: 1.0\n" + attribute + "\n").getBytes(UTF_8));
      for (var entry : entries.entrySet()) {
        jar.putNextEntry(new JarEntry(entry.getKey()));
        jar.write(entry.getKey().endsWith(".class")
            ? classOf(entry.getValue())
            : entry.getValue().getBytes(UTF_8));
      }
    }
  }

  /** A class with a local variable, of a source file with this name. */
  private static byte[] classOf(String source) {
    return ClassFile.of().build(ClassDesc.of("x.A"), type -> type
        .with(SourceFileAttribute.of(source))
        .withMethodBody("run", ConstantDescs.MTD_void, ClassFile.ACC_STATIC,
            code -> code.iconst_0().istore(0)
                .localVariable(0, "local", ConstantDescs.CD_int, code.startLabel(), code.endLabel())
                .return_()));
  }

  private String merged() throws Exception {
    var java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    var process = new ProcessBuilder(java, "-cp", System.getProperty("java.class.path"),
        "src/main/build/MergeJars.java", folder.toString(),
        manifest.getParent().getParent().toString())
        .redirectErrorStream(true).start();
    var output = new String(process.getInputStream().readAllBytes(), UTF_8);
    return process.waitFor() == 0 ? "" : output;
  }

  @Test
  void keepsWhatIsReadFromAllJars_inTheOrderOfTheClassPath() throws Exception {
    jar("a-1.jar", "", Map.of(SERVICE, "x.A", FACTORIES, "x.Key=x.A\nx.Other=x.O",
        "META-INF/LICENSE", "of a", "x/A.class", "A", "x/Same.class", "same"));
    jar("b-1.jar", "", Map.of(SERVICE, "x.B", FACTORIES, "x.Key=x.B,\\\n  x.C",
        "META-INF/LICENSE", "of b", "x/Same.class", "same", "META-INF/B.SF", "signed",
        "module-info.class", "module", "META-INF/native/b.so", "native"));

    assertThat(merged()).isEmpty();

    assertThat(folder.toFile().list()).containsExactly("libraries.jar");
    try (var jar = new JarFile(folder.resolve("libraries.jar").toFile());
        var rewritten = Files.newInputStream(manifest)) {
      assertThat(text(jar, SERVICE)).isEqualTo("x.B\nx.A");
      assertThat(text(jar, FACTORIES)).isEqualTo("x.Key=x.B,x.C,x.A\nx.Other=x.O\n");
      assertThat(text(jar, "META-INF/LICENSE")).isEqualTo("of b");
      assertThat(text(jar, "META-INF/a-1.jar/META-INF/LICENSE")).isEqualTo("of a");
      assertThat(jar.stream().map(JarEntry::getName)).containsExactlyInAnyOrder(
          JarFile.MANIFEST_NAME, SERVICE, FACTORIES, "META-INF/LICENSE",
          "META-INF/maven/x/a/pom.properties", "META-INF/maven/x/b/pom.properties",
          "META-INF/a-1.jar/META-INF/LICENSE", "x/A.class", "x/Same.class");
      var attributes = new Manifest(rewritten).getMainAttributes();
      assertThat(attributes.getValue("Class-Path")).isEqualTo("lib/libraries.jar");
      assertThat(attributes.getValue("Main-Class")).isEqualTo("x.Main");
    }
  }

  @Test
  void takesTheClassForThisVersionOfJava_ofAMultiReleaseJar() throws Exception {
    jar("a-1.jar", "Multi-Release: true\n",
        Map.of("x/A.class", "old", "META-INF/versions/9/x/A.class",
            "new", "META-INF/versions/999/x/A.class", "future"));

    assertThat(merged()).isEmpty();

    try (var jar = new JarFile(folder.resolve("libraries.jar").toFile())) {
      assertThat(text(jar, "x/A.class")).isEqualTo("new");
    }
  }

  @Test
  void leavesOutNamesOfLocalVariables_alsoThoseOfTheApplication() throws Exception {
    jar("a-1.jar", "", Map.of("x/A.class", "A"));
    var own = Files.write(manifest.resolveSibling("Own.class"), classOf("Own"));

    assertThat(merged()).isEmpty();

    try (var jar = new JarFile(folder.resolve("libraries.jar").toFile())) {
      var library = jar.getInputStream(jar.getEntry("x/A.class")).readAllBytes();
      assertThat(List.of(library, Files.readAllBytes(own))).allSatisfy(
          each -> assertThat(new String(each, ISO_8859_1)).contains("run").doesNotContain("local"));
    }
  }

  /** Whose equals and hashCode, and whose switch, the compiler leaves to the JVM to link. */
  record Sample(boolean flag, byte small, char letter, short number, int count, long nanos,
      float part, double ratio, String text, int[] list) {
    private static final Sample FIRST = new Sample(true, (byte) -1, 'c', (short) 2, 3, 1L << 40, 0f,
        Double.NaN, null, null);

    static String kind(Object value) {
      return switch (value) {
        case null -> "null";
        case String text when text.isEmpty() -> "empty";
        case String _ -> "text";
        case Sample(_, _, _, _, _, _, _, _, String text, _) when text != null -> "with text";
        case int[] _ -> "list";
        case Record _ -> "record";
        default -> "other";
      };
    }

    /** Its result for many values: each differs from the first in one. */
    public static String results() {
      var list = new int[0];
      var all = List.of(FIRST,
          new Sample(true, (byte) -1, 'c', (short) 2, 3, 1L << 40, 0f, Double.NaN, null, null),
          new Sample(false, (byte) -1, 'c', (short) 2, 3, 1L << 40, 0f, Double.NaN, null, null),
          new Sample(true, (byte) 1, 'c', (short) 2, 3, 1L << 40, 0f, Double.NaN, null, null),
          new Sample(true, (byte) -1, 'd', (short) 2, 3, 1L << 40, 0f, Double.NaN, null, null),
          new Sample(true, (byte) -1, 'c', (short) 1, 3, 1L << 40, 0f, Double.NaN, null, null),
          new Sample(true, (byte) -1, 'c', (short) 2, -3, 1L << 40, 0f, Double.NaN, null, null),
          new Sample(true, (byte) -1, 'c', (short) 2, 3, 1L << 41, 0f, Double.NaN, null, null),
          new Sample(true, (byte) -1, 'c', (short) 2, 3, 1L << 40, -0f, Double.NaN, null, null),
          new Sample(true, (byte) -1, 'c', (short) 2, 3, 1L << 40, 0f, 0.5, null, null),
          new Sample(true, (byte) -1, 'c', (short) 2, 3, 1L << 40, 0f, Double.NaN, "text", null),
          new Sample(true, (byte) -1, 'c', (short) 2, 3, 1L << 40, 0f, Double.NaN, null, list));
      var results = new StringBuilder();
      for (var each : all) {
        results.append(FIRST.equals(each)).append(each.equals(FIRST)).append(each.equals(each))
            .append(each.equals("x")).append(each.equals(null)).append(kind(each));
        results.append(each.list() == null ? each.hashCode() : 0).append('\n');
      }
      for (var value : new Object[]{null, "", "text", list, 1}) {
        results.append(kind(value)).append('\n');
      }
      return results.toString();
    }
  }

  @Test
  void linksSwitchesOverTypesAndMethodsOfRecords_toTheSameResults() throws Exception {
    var name = Sample.class.getName();
    byte[] compiled;
    try (var from = Sample.class.getResourceAsStream("/" + name.replace('.', '/') + ".class")) {
      compiled = from.readAllBytes();
    }
    var own = Files.write(manifest.resolveSibling("Own.class"), compiled);

    assertThat(merged()).isEmpty();

    var linked = Files.readAllBytes(own);
    assertThat(new String(compiled, ISO_8859_1)).contains("typeSwitch");
    assertThat(new String(linked, ISO_8859_1)).doesNotContain("typeSwitch");
    var loader = new ClassLoader(null) {
      @Override
      protected Class<?> findClass(String wanted) throws ClassNotFoundException {
        if (!wanted.equals(name)) {
          throw new ClassNotFoundException(wanted);
        }
        return defineClass(wanted, linked, 0, linked.length);
      }
    };
    var results = loader.loadClass(name).getMethod("results");
    results.setAccessible(true);
    assertThat(results.invoke(null)).isEqualTo(Sample.results());
  }

  @Test
  void namesEachLibraryForScanners_alsoThoseWhoseJarsHaveNoCoordinates() throws Exception {
    jar("a-1.jar", "", Map.of("x/A.class", "A"));
    jar("b-1.jar", "", Map.of("META-INF/maven/y/b/pom.properties", "version=1"));

    assertThat(merged()).isEmpty();

    try (var jar = new JarFile(folder.resolve("libraries.jar").toFile())) {
      assertThat(text(jar, "META-INF/maven/x/a/pom.properties"))
          .isEqualTo("groupId=x\nartifactId=a\nversion=1\n");
      assertThat(text(jar, "META-INF/maven/y/b/pom.properties")).isEqualTo("version=1");
      assertThat(jar.getEntry("META-INF/maven/x/b/pom.properties")).isNull();
    }
  }

  @Test
  void refusesALibraryThatScannersWouldNotFind() throws Exception {
    jar("none-1.jar", "", Map.of("x/A.class", "A"));

    assertThat(merged()).contains("none-1.jar is not in the bill of materials");
  }

  @Test
  void refusesTwoClassesOfOneName() throws Exception {
    jar("a-1.jar", "", Map.of("x/A.class", "one"));
    jar("b-1.jar", "", Map.of("x/A.class", "another"));

    assertThat(merged())
        .contains("x/A.class of a-1.jar is in another jar, too, with other content");
  }

  private static String text(JarFile jar, String name) throws IOException {
    var bytes = jar.getInputStream(jar.getEntry(name)).readAllBytes();
    return name.endsWith(".class")
        ? ClassFile.of().parse(bytes).findAttribute(Attributes.sourceFile()).orElseThrow()
            .sourceFile().stringValue()
        : new String(bytes, UTF_8);
  }
}
