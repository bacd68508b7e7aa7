package dev.activator.kube.reflector;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.testing.Seeds;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class LineStreamTest {
  private final LineStream.Splitter splitter = new LineStream.Splitter();
  private final List<String> lines = new ArrayList<>();

  private void split(byte[] bytes, int from, int to) throws IOException {
    splitter.split(ByteBuffer.wrap(bytes, from, to - from), new LineStream.Listener() {
      @Override
      public void line(byte[] line, int at, int length) {
        lines.add(new String(line, at, length, StandardCharsets.UTF_8));
      }

      @Override
      public void opened() {}

      @Override
      public void chunkRead(Runnable handled) {}

      @Override
      public void ended(@Nullable Throwable failure) {}
    });
  }

  @Test
  void cutsAStreamIntoItsLinesHoweverItComes() {
    Seeds.each(seed -> new LineStreamTest().cutsAStreamIntoItsLinesHoweverItComes(seed));
  }

  private void cutsAStreamIntoItsLinesHoweverItComes(long seed) throws IOException {
    var random = new Random(seed);
    var expected = new ArrayList<String>();
    var text = new StringBuilder();
    for (int i = 0; i < 20; i++) {
      var line = "ü".repeat(random.nextInt(random.nextInt(10) == 0 ? 100_000 : 20));
      expected.add(line);
      text.append(line).append('\n');
    }
    var bytes = text.append("not complete").toString().getBytes(StandardCharsets.UTF_8);

    for (int at = 0; at < bytes.length;) {
      int to = Math.min(bytes.length, at + random.nextInt(8192));
      split(bytes, at, to);
      at = to;
    }

    assertThat(lines).isEqualTo(expected);
  }

  @Test
  void refusesALineWithoutEnd() {
    var chunk = new byte[1 << 20];
    assertThatThrownBy(() -> {
      for (int i = 0; i < 100; i++) {
        split(chunk, 0, chunk.length);
      }
    }).isInstanceOf(IOException.class).hasMessageContaining("a line of more than");
  }
}
