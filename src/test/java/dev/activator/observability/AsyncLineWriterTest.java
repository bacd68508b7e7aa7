package dev.activator.observability;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class AsyncLineWriterTest {
  @Test
  void writesLinesOfManyThreadsWhole() throws Exception {
    var bytes = new ByteArrayOutputStream();
    var out = new AsyncLineWriter(bytes);
    var threads = IntStream.range(0, 4)
        .mapToObj(thread -> Thread.ofPlatform().start(() -> IntStream.range(0, 1_000)
            .forEach(i -> out.write("line " + i + " of " + thread + "\n"))))
        .toList();
    for (var thread : threads) {
      thread.join();
    }
    out.close();

    assertThat(bytes.toString(StandardCharsets.UTF_8).lines()).hasSize(4_000)
        .allMatch(line -> line.matches("line \\d+ of \\d"));
    assertThat(out.dropped()).isZero();
  }

  @Test
  void dropsWhatIsNotReadAndCountsIt() {
    // given a pipe that is full
    var read = new CountDownLatch(1);
    var out = new AsyncLineWriter(new OutputStream() {
      @Override
      public void write(int one) {
        try {
          read.await();
        } catch (InterruptedException stopped) {
          Thread.currentThread().interrupt();
        }
      }
    });

    // when there is more to write than may wait, then nobody is held up
    IntStream.range(0, 100_000).forEach(i -> out.write("line\n"));
    assertThat(out.dropped()).isPositive();
    read.countDown();
    out.close();
  }

  @Test
  void countsEachLineThatCannotBeWritten() {
    var out = new AsyncLineWriter(new OutputStream() {
      @Override
      public void write(int one) throws IOException {
        throw new IOException("closed");
      }
    });
    IntStream.range(0, 100).forEach(_ -> out.write("line\n"));
    out.close();

    assertThat(out.dropped()).isEqualTo(100);
  }

  @Test
  void anEmptyTextDoesNotEndIt() {
    var bytes = new ByteArrayOutputStream();
    var out = new AsyncLineWriter(bytes);
    out.write("");
    out.write("line\n");
    out.close();

    assertThat(bytes.toString(StandardCharsets.UTF_8)).isEqualTo("line\n");
  }
}
