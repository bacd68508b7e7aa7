package dev.activator.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.handler.codec.http.DefaultHttpHeadersFactory;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.util.AsciiString;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class HeaderFieldListTest {
  private static final List<String> NAMES = List.of("Host", "host", "HOST", "Accept", "accept",
      "X-Forwarded-For", "Te", "K-Original-Host");

  @Test
  void behavesAsNettysHeaders() {
    var random = new Random(47);
    for (int run = 0; run < 200; run++) {
      HttpHeaders ours = new HeaderFieldList(false);
      var theirs = DefaultHttpHeadersFactory.headersFactory().withValidation(false).newHeaders();
      for (int step = 0; step < 40; step++) {
        var text = NAMES.get(random.nextInt(NAMES.size()));
        CharSequence name = random.nextBoolean() ? text : new AsciiString(text);
        change(random.nextInt(8), name, "v" + step, ours, theirs);
        assertThat(ours.entries()).isEqualTo(theirs.entries());
        for (var each : NAMES) {
          assertThat(ours.get(each)).isEqualTo(theirs.get(each));
          assertThat(ours.getAll(each)).isEqualTo(theirs.getAll(each));
          assertThat(ours.contains(each)).isEqualTo(theirs.contains(each));
          assertThat(ours.contains(new AsciiString(each))).isEqualTo(theirs.contains(each));
        }
        assertThat(ours.size()).isEqualTo(theirs.size());
        assertThat(ours.isEmpty()).isEqualTo(theirs.isEmpty());
      }
    }
  }

  private static void change(int how, CharSequence name, String value, HttpHeaders... both) {
    for (var each : both) {
      switch (how) {
        case 0, 1, 2, 3 -> each.add(name, value);
        case 4 -> each.set(name, value);
        case 5 -> each.remove(name);
        case 6 -> each.set(name, List.of(value, value));
        default -> each.add(name.toString(), List.of(value, "other"));
      }
    }
  }

  @Test
  void findsATokenInAnyOfTheValues() {
    var fields = new HeaderFieldList(false).add("Connection", "a, upgrade").add("connection",
        "Close");

    assertThat(fields.containsValue(HttpHeaderNames.CONNECTION, "close", true)).isTrue();
    assertThat(fields.containsValue(HttpHeaderNames.CONNECTION, "b", true)).isFalse();
    assertThat(fields.containsValue(HttpHeaderNames.UPGRADE, "b", true)).isFalse();
  }

  @Test
  void refusesAMalformedValueOrName() {
    var fields = HeaderFieldList.CHECKED.newHeaders();

    assertThatThrownBy(() -> fields.add("a", "b\nc")).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> HeaderFieldList.checked(new AsciiString("a b")))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> HeaderFieldList.checked(AsciiString.EMPTY_STRING))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(HeaderFieldList.checked(new AsciiString("a")).toString()).isEqualTo("a");
  }

  @Test
  void readsNumbers() {
    var fields = new HeaderFieldList(false).setInt("a", 7).set("b", "x");

    assertThat(fields.getInt("a")).isEqualTo(7);
    assertThat(fields.getInt("b")).isNull();
    assertThat(fields.getInt("b", 3)).isEqualTo(3);
  }

  @ParameterizedTest(name = "{0} fields of {1} commas: {2}")
  @CsvSource({"0, 0, false", "1, 99, false", "1, 100, true", "2, 49, false", "2, 50, true",
      "50, 1, false", "51, 1, true", "100, 0, false", "101, 0, true"})
  void isTooLong_ifAllFieldsOfANameHaveMoreThanAHundred(int fields, int commas,
      boolean tooMany) {
    for (var name : List.of("Connection", "upgrade", "TE")) {
      var list = new HeaderFieldList(false);
      list.add("Other", ",".repeat(200));
      for (int i = 0; i < fields; i++) {
        list.add(name, ",".repeat(commas));
      }

      assertThat(HopByHopFields.isTooLong(list)).as(name).isEqualTo(tooMany);
    }
  }
}
