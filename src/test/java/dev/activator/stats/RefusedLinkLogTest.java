package dev.activator.stats;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.activator.loop.NettyLoop;
import io.netty.channel.EventLoop;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.slf4j.LoggerFactory;
import reactor.netty.http.server.HttpServer;
import reactor.netty.resources.LoopResources;
import tools.jackson.dataformat.yaml.YAMLMapper;

@Isolated("reads the log")
class RefusedLinkLogTest {
  private static final Duration PATIENCE = Duration.ofSeconds(120);
  private static final Path CONFIGURATION = Path.of("src", "main", "resources",
      "application.yaml");

  /** As when no activator leads yet, which is so at each start. */
  @Test
  void aRefusedHandshakeIsLoggedByTheLinkAlone() throws Exception {
    var library = (Logger) LoggerFactory.getLogger("reactor.netty");
    var warned = new CompletableFuture<ILoggingEvent>();
    var written = new ListAppender<ILoggingEvent>() {
      @Override
      protected void append(ILoggingEvent line) {
        super.append(line);
        if (line.getLevel().equals(Level.WARN)) {
          warned.complete(line);
        }
      }
    };
    written.start();
    library.addAppender(written);
    // Another test of this process may have started the application, which sets them.
    var quiet = levels().keySet().stream().filter(name -> name.startsWith("reactor.netty"))
        .map(name -> (Logger) LoggerFactory.getLogger(name)).toList();
    var before = quiet.stream().map(Logger::getLevel).toList();
    quiet.forEach(logger -> logger.setLevel(Level.INFO));
    var threads = LoopResources.create("refused-link", 1, true);
    var server = HttpServer.create().host("127.0.0.1").port(0)
        .handle((_, answer) -> answer.status(503).send()).bindNow(PATIENCE);
    try {
      var failed = new CompletableFuture<Void>();
      var link = AutoscalerLink.to(() -> URI.create("ws://127.0.0.1:" + server.port()),
          new NettyLoop((EventLoop) threads.onClient(true).next()), "activator-1",
          // Under load a handshake may take longer than in the product.
          new AutoscalerLink.Timings(PATIENCE, PATIENCE, PATIENCE), new Random(1));
      link.onChange(new AutoscalerLink.Listener() {
        @Override
        public void failed() {
          failed.complete(null);
        }
      });
      link.open();
      failed.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      assertThat(link.view().get(PATIENCE.toSeconds(), TimeUnit.SECONDS).problem())
          .isEqualTo("the answer is 503 Service Unavailable");
      // The library may write its line after the listener was called.
      warned.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      link.close();
    } finally {
      server.disposeNow(PATIENCE);
      threads.disposeLater(Duration.ZERO, PATIENCE).block(PATIENCE);
      library.detachAppender(written);
      for (int i = 0; i < before.size(); i++) {
        quiet.get(i).setLevel(before.get(i));
      }
    }

    var levels = levels();
    assertThat(written.list).noneMatch(line -> line.getLevel()
        .isGreaterOrEqual(levels.getOrDefault(line.getLoggerName(), Level.INFO)));
  }

  private static Map<String, Level> levels() {
    var levels = new HashMap<String, Level>();
    YAMLMapper.builder().build().readTree(CONFIGURATION.toFile()).at("/logging/level").properties()
        .forEach(one -> levels.put(one.getKey(), Level.valueOf(one.getValue().asString())));
    return levels;
  }
}
