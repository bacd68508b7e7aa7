package dev.activator.ext.wakewith.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.config.RevisionAnnotations;
import dev.activator.revision.RevisionId;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WakeWithNamesTest {
  private final List<String> problems = new ArrayList<>();

  private List<RevisionId> parse(String text) {
    return WakeWithNames.parse(text, "shop", problems::add);
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {"cart | shop/cart", "cart.other | other/cart",
      "' cart , auth.users ' | shop/cart users/auth", "cart,cart.shop | shop/cart", "'' | ''"})
  void namesAreOfTheOwnNamespaceUnlessTheySayAnother(String text, String expected) {
    assertThat(parse(text).stream().map(RevisionId::toString).collect(Collectors.joining(" ")))
        .isEqualTo(expected);
    assertThat(problems).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {"Cart", "cart.a.b", "-cart", "cart.", ".shop", "a b",
      "cart/shop", "http://cart"})
  void aMalformedNameIsAProblemAndTheOthersCount(String wrong) {
    assertThat(parse("auth," + wrong)).containsExactly(new RevisionId("shop", "auth"));
    assertThat(problems).singleElement().asString().startsWith("'" + wrong + "' ");
  }

  @Test
  void sixteenNamesCount() {
    var names = IntStream.range(0, 18).mapToObj(i -> "s" + i).toList();

    assertThat(parse(String.join(",", names))).hasSize(16);
    assertThat(problems).hasSize(2).first().asString()
        .contains("'s16' is one more than the 16 names that count");
  }

  @ParameterizedTest(name = "{0} wakes {1}")
  @CsvSource(delimiter = '|', value = {"a>b | b", "a>b b>c | b c", "a>b b>a | b", "a>a | ''",
      "a>b a>c b>d c>d | b c d", "x>y | ''",
      "a>b b>c c>d d>e e>f f>g g>h | b c d e f"})
  void allThatFollowStartUpToFiveStepsAway(String edges, String expected) {
    Map<String, List<String>> next = Arrays.stream(edges.split(" ")).map(edge -> edge.split(">"))
        .collect(Collectors.groupingBy(edge -> edge[0],
            Collectors.mapping(edge -> edge[1], Collectors.toList())));

    var closure = WakeWithNames.closure(new RevisionId("n", "a"),
        id -> next.getOrDefault(id.name(), List.of()).stream()
            .map(name -> new RevisionId("n", name)).toList());

    assertThat(closure.stream().map(RevisionId::name).collect(Collectors.joining(" ")))
        .isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource({"a", "a.b", "'a, b.c'", "a.b.c", "A", "'a,,b'", "'a,'", "-a", "a b"})
  void agreesWithTheCheckOfAnnotations(String value) {
    parse(value);

    assertThat(RevisionAnnotations.problem("activator.dev/wake-with", value).isPresent())
        .isEqualTo(!problems.isEmpty());
  }

  @Test
  void theCheckSaysWhatIsExpected() {
    assertThat(RevisionAnnotations.problem("activator.dev/wake-with", "B"))
        .contains("'B' is ignored: it must be names with commas, such as b, c.other-namespace");
  }
}
