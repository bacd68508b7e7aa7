package dev.activator.throttle.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class InFlightCarryOverTest {
  @ParameterizedTest(name = "{0}")
  @CsvSource(delimiter = '|', textBlock = """
      # row                                      | running | before | own   | limit      | dealt
      nothing runs by another way                | 0       | 0 0    | 1 0   | 2          | 0 0
      evenly                                     | 4       | 0 0    | 0 0   | 5          | 2 2
      evenly where it does not divide            | 5       | 0 0 0  | 0 0 0 | 5          | 2 2 1
      where there is room                        | 2       | 0 0    | 2 0   | 2          | 0 2
      stays where it is                          | 1       | 0 1    | 0 0   | 2          | 0 1
      stays where it is, and more comes          | 2       | 0 1    | 0 0   | 2          | 1 1
      less than before                           | 1       | 1 1    | 0 0   | 2          | 1 0
      moves where there is no room any more      | 1       | 1 0    | 1 0   | 1          | 0 1
      no room at all: none takes another         | 1       | 0 0    | 1 1   | 1          | 1 1
      more than there is room                    | 5       | 0 0    | 0 1   | 2          | 4 3
      a pod over its limit                       | 1       | 0 0    | 3 0   | 2          | 0 1
      without a limit                            | 9       | 0 0    | 1 1   | 2147483647 | 0 0
      """)
  void row(String name, int running, String before, String own, int limit, String dealt) {
    assertThat(InFlightCarryOver.deal(running, numbers(before), numbers(own), limit))
        .isEqualTo(numbers(dealt));
  }

  private static int[] numbers(String text) {
    return Stream.of(text.split(" ")).mapToInt(Integer::parseInt).toArray();
  }
}
