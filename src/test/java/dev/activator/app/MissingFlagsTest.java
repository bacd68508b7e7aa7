package dev.activator.app;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MissingFlagsTest {
  @ParameterizedTest(name = "Unsafe: {0}, java.nio is open: {1}")
  @CsvSource({"false, true, --sun-misc-unsafe-memory-access=allow",
      "true, false, --add-opens=java.base/java.nio=ALL-UNNAMED",
      "false, false, --sun-misc-unsafe-memory-access=allow and"
          + " --add-opens=java.base/java.nio=ALL-UNNAMED",
      "true, true, -Dio.netty.tryReflectionSetAccessible=true"})
  void areThoseThatHelp(boolean hasUnsafe, boolean isNioOpen, String flags) {
    assertThat(RequestConfiguration.missingFlags(hasUnsafe, isNioOpen)).isEqualTo(flags);
  }
}
