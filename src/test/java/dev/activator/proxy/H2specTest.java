package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.activator.revision.Destination;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;
import reactor.netty.http.HttpProtocol;
import reactor.netty.http.server.HttpServer;

/** The 145 cases of h2spec, against a pod that answers what was asked in whole. */
class H2specTest extends WireTest {
  private static final String PROGRAM = "/h2spec/2.2.0/h2spec_linux_amd64.tar.gz";

  @TempDir
  Path folder;

  @Override
  Activator.Settings settings() {
    return Activator.Settings.DEFAULT.hosts(_ -> Activator.HELLO);
  }

  @Test
  void conformsToHttp2() throws Exception {
    assumeTrue(System.getProperty("os.name").equals("Linux")
        && System.getProperty("os.arch").equals("amd64"), "h2spec runs on Linux on amd64");
    var pod = HttpServer.create().protocol(HttpProtocol.H2C).host("127.0.0.1").port(0)
        .handle((request, response) -> request.receive().then()
            .then(response.sendString(Mono.just("hello")).then()))
        .bindNow();
    try {
      activator.throttle.grow(new Destination("127.0.0.1", pod.port()), 1_000);

      var report = run(unpacked());

      assertThat(report).contains("145 tests, 145 passed, 0 skipped, 0 failed");
    } finally {
      pod.disposeNow();
    }
  }

  private Path unpacked() throws IOException, InterruptedException {
    var archive = folder.resolve("h2spec.tar.gz");
    try (var in = H2specTest.class.getResourceAsStream(PROGRAM)) {
      Files.copy(in, archive, StandardCopyOption.REPLACE_EXISTING);
    }
    new ProcessBuilder("tar", "xzf", archive.toString(), "-C", folder.toString()).inheritIO()
        .start().waitFor();
    return folder.resolve("h2spec");
  }

  private String run(Path program) throws IOException {
    // Its patience with a busy machine, in seconds a case.
    var running = new ProcessBuilder(program.toString(), "-h", "127.0.0.1", "-p",
        Integer.toString(activator.port), "-o", "5").redirectErrorStream(true).start();
    return new String(running.getInputStream().readAllBytes());
  }
}
