package dev.activator.kube.reflector;

import io.fabric8.kubernetes.client.OAuthTokenProvider;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The credentials of a plugin, kept until they are about to end or were refused with 401. One run
 * serves all requests that wait for it.
 *
 * <p><b>Threads.</b> Any; it blocks while the command runs.
 *
 * <p><b>Errors.</b> A {@link CredentialsException} if the command cannot be run, fails, takes longer
 * than a minute, or prints no credentials. It is run again with the next request.
 *
 * <p><b>Source.</b> The package {@code exec} of client-go.
 */
public final class ExecCredentials implements OAuthTokenProvider {
  private static final Logger log = LoggerFactory.getLogger(ExecCredentials.class);
  private static final Duration MAX_TIME = Duration.ofMinutes(1);
  private static final int MAX_BYTES = 1 << 20;
  private static final int MAX_LINE = 300;

  private final ExecPlugin plugin;
  private final Clock clock;
  private final ReentrantLock running = new ReentrantLock();
  /** Null before the first run, and after a refusal. */
  private volatile @Nullable ExecCredential last;

  public ExecCredentials(ExecPlugin plugin, Clock clock) {
    this.plugin = plugin;
    this.clock = clock;
  }

  private @Nullable ExecCredential unlessEnded() {
    var known = last;
    return known != null && clock.instant().isBefore(known.renewal()) ? known : null;
  }

  ExecCredential current() {
    var known = unlessEnded();
    if (known != null) {
      return known;
    }
    running.lock();
    try {
      known = unlessEnded();
      return known == null ? run() : known;
    } finally {
      running.unlock();
    }
  }

  /** @return null if the credentials are a certificate */
  @Override
  public @Nullable String getToken() {
    return current().token();
  }

  /** The API refused the credentials, or they cannot be used: the next request runs the plugin. */
  void refused() {
    last = null;
  }

  private ExecCredential run() {
    try {
      var credential = ExecCredential.parse(printed(), plugin.apiVersion(), clock.instant());
      last = credential;
      return credential;
    } catch (IllegalArgumentException e) {
      throw failed(String.valueOf(e.getMessage()));
    }
  }

  private String printed() {
    var process = start();
    var out = read(process.getInputStream());
    var err = read(process.getErrorStream());
    try {
      process.getOutputStream().close();
      if (!process.waitFor(MAX_TIME)) {
        throw failed("it did not end within " + MAX_TIME.toSeconds() + " s");
      }
      var said = within(err);
      if (process.exitValue() != 0) {
        throw failed("it ended with exit code " + process.exitValue() + lastLine(said));
      }
      if (!said.isBlank()) {
        log.debug("{} printed: {}", plugin.name(), said.strip());
      }
      return within(out);
    } catch (TimeoutException e) {
      throw failed("its output did not end");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw failed("it was interrupted");
    } catch (ExecutionException | IOException e) {
      throw failed("its output cannot be read: " + e.getMessage());
    } finally {
      process.destroyForcibly();
    }
  }

  private Process start() {
    var builder = new ProcessBuilder(plugin.command());
    builder.environment().putAll(plugin.environment());
    try {
      return builder.start();
    } catch (IOException e) {
      throw failed("it cannot be run: " + e.getMessage()
          + (plugin.installHint().isEmpty()
              ? ""
              : " (" + plugin.installHint().replaceAll("\\s+", " ") + ")"));
    }
  }

  private static CompletableFuture<String> read(InputStream from) {
    var result = new CompletableFuture<String>();
    Thread.ofVirtual().start(() -> {
      try (from) {
        result.complete(new String(from.readNBytes(MAX_BYTES), StandardCharsets.UTF_8));
      } catch (IOException e) {
        result.completeExceptionally(e);
      }
    });
    return result;
  }

  /** What was printed; the command has ended, but a process that it left may hold the pipe. */
  private static String within(CompletableFuture<String> output)
      throws InterruptedException, ExecutionException, TimeoutException {
    return output.get(1, TimeUnit.SECONDS);
  }

  private static String lastLine(String said) {
    return said.lines().filter(line -> !line.isBlank()).reduce((_, later) -> later)
        .map(line -> ": " + line.strip().substring(0, Math.min(MAX_LINE, line.strip().length())))
        .orElse(", and printed no reason");
  }

  private CredentialsException failed(String reason) {
    return new CredentialsException(
        "the command '" + plugin.name() + "' of the kubeconfig's user failed: " + reason);
  }
}
