package dev.activator.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which JDK and folder {@code bin/image-root} takes, with programs that take the place of a JDK's. */
class ImageRootTest {
  @TempDir
  Path directory;

  private Path jdk(String version) throws Exception {
    var home = directory.resolve("jdk-" + version);
    var programs = Files.createDirectories(home.resolve("bin"));
    for (String name : new String[]{"java", "jlink", "jimage"}) {
      var program = Files.writeString(programs.resolve(name),
          "#!/bin/sh\necho 'openjdk version \"" + version + "\" 2026-01-01' >&2\n");
      Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwxr-xr-x"));
    }
    return home;
  }

  private static String received(Path javaHome) throws Exception {
    var builder = new ProcessBuilder("bin/image-root", "/no/such.jar").redirectErrorStream(true);
    builder.environment().put("JAVA_HOME", javaHome.toString());
    var process = builder.start();
    String output = new String(process.getInputStream().readAllBytes());
    assertThat(process.waitFor()).isEqualTo(1);
    return output.strip();
  }

  @Test
  void refusesAJavaThatIsTooOld() throws Exception {
    var old = jdk("17.0.9");

    assertThat(received(old)).isEqualTo("image-root: JAVA_HOME is " + old
        + ", which is 17.0.9; it must be JDK 25 or later");
  }

  @Test
  void refusesAFolderThatHasNoJava() throws Exception {
    assertThat(received(directory)).isEqualTo("image-root: JAVA_HOME is " + directory
        + ", which is no JDK; it must be JDK 25 or later");
  }

  @Test
  void takesOneThatIsNewer() throws Exception {
    assertThat(received(jdk("26.0.1"))).isEqualTo(
        "image-root: no /no/such.jar; build it with: mvn package");
  }

  @Test
  void takesARelativeFolder() throws Exception {
    // given a JDK whose java unpacks no library, and whose jar prints where it reads from
    var home = jdk("26.0.1");
    Files.writeString(home.resolve("bin/java"), """
        case $* in
          *extract*) for folder; do :; done; mkdir -p "$folder/lib" ;;
        esac
        """, StandardOpenOption.APPEND);
    var jar = Files.writeString(home.resolve("bin/jar"), "#!/bin/sh\necho \"$@\"\n");
    Files.setPosixFilePermissions(jar, PosixFilePermissions.fromString("rwxr-xr-x"));
    var root = directory.resolve("image");
    var builder = new ProcessBuilder("bin/image-root",
        Files.createFile(directory.resolve("activator.jar")).toString(),
        Path.of("").toAbsolutePath().relativize(root).toString()).redirectErrorStream(true);
    builder.environment().put("JAVA_HOME", home.toString());

    var output = new String(builder.start().getInputStream().readAllBytes());

    // then it is the file in the folder, also from the folder below in which jar runs
    assertThat(output).contains("--file " + root.resolve("app/lib/"));
  }
}
