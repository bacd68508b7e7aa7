package dev.activator.ext.admit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.ext.admit.GatewayAdmitRequest.Convention;
import dev.activator.ext.admit.GatewayAdmitRequest.OriginalRequest;
import dev.activator.ext.admit.GatewayAdmitRequest.Unclear;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which request a gateway asks about. */
class GatewayAdmitRequestTest {

  @ParameterizedTest(name = "{0}")
  @CsvSource(nullValues = "none", value = {"/admit/original-url, ORIGINAL_URL",
      "/admit/original-url?x=1, ORIGINAL_URL", "/admit/original-url/more, none",
      "/admit/forwarded, FORWARDED", "/admit/forwarded/, none", "/admit/host, HOST",
      "/admit/host/a/b?c, HOST", "/admit/hosts, none", "/admit, none", "/, none",
      "/x/admit/host, none"})
  void thePathSaysHowTheRequestIsNamed(String target, @Nullable Convention by) {
    assertThat(Convention.of(target)).isEqualTo(by);
  }

  @ParameterizedTest(name = "{0} {1} {2}")
  @CsvSource(delimiter = '|', value = {
      "/admit/original-url | GET | X-Original-URL=https://web.shop:8443/a?b=c;X-Original-Method=PUT"
          + " | PUT web.shop:8443 /a?b=c",
      "/admit/original-url | POST | X-Original-URL=http://web.shop | GET web.shop /",
      "/admit/original-url | GET | X-Original-URL=http://web.shop/;X-Forwarded-Host=other;Host=me"
          + " | GET web.shop /",
      "/admit/forwarded | GET | X-Forwarded-Host=web.shop;X-Forwarded-Uri=/a?b;X-Forwarded-Method=DELETE"
          + " | DELETE web.shop /a?b",
      "/admit/forwarded | GET | X-Forwarded-Host=web.shop;X-Original-URL=http://other/;Host=me"
          + " | GET web.shop /",
      "/admit/forwarded | GET | X-Forwarded-Host=web.shop;X-Forwarded-Uri=*;X-Forwarded-Method=OPTIONS"
          + " | OPTIONS web.shop /*",
      "/admit/forwarded | GET | X-Forwarded-Host=web.shop;X-Forwarded-Uri=.other/a | GET web.shop /.other/a",
      "/admit/host/a/b?c | PATCH | Host=web.shop;X-Original-URL=http://other/;X-Forwarded-Host=other"
          + " | PATCH web.shop /a/b?c",
      "/admit/host | GET | Host=web.shop | GET web.shop /",
      "/admit/host?c | GET | Host=web.shop | GET web.shop /?c"})
  void oneWayCountsAlone(String target, String method, String headers, String original) {
    var parts = original.split(" ");

    assertThat(ask(target, method, headers))
        .isEqualTo(new OriginalRequest(parts[0], parts[1], parts[2]));
  }

  @ParameterizedTest(name = "{0} {1} {2}")
  @CsvSource(delimiter = '|', value = {
      "/admit/original-url | GET | Host=web.shop | X-Original-URL is missing",
      "/admit/original-url | GET | X-Original-URL=/a | X-Original-URL is not a URL",
      "/admit/original-url | GET | X-Original-URL=ftp://web/a | X-Original-URL is not a URL",
      "/admit/original-url | GET | X-Original-URL=http://web/;X-Original-Method=CONNECT"
          + " | X-Original-URL is not a URL",
      "/admit/forwarded | GET | Host=web.shop | X-Forwarded-Host is missing",
      "/admit/forwarded | GET | X-Forwarded-Host=we b | malformed",
      "/admit/forwarded | GET | X-Forwarded-Host=web.shop/admin;X-Forwarded-Uri=/a | malformed",
      "/admit/host/a | GET | Host=web.shop?b | malformed",
      "/admit/forwarded | CONNECT | X-Forwarded-Host=web;X-Forwarded-Method=CONNECT | malformed",
      "/admit/host/a | GET | X-Forwarded-Host=web | Host is missing"})
  void whatIsMissingIsNamed(String target, String method, String headers, String problem) {
    assertThat(ask(target, method, headers)).isInstanceOfSatisfying(Unclear.class,
        unclear -> assertThat(unclear.problem()).contains(problem));
  }

  private static GatewayAdmitRequest ask(String target, String method, String headers) {
    var all = new TreeMap<String, String>(String.CASE_INSENSITIVE_ORDER);
    for (var header : headers.split(";")) {
      var parts = header.split("=", 2);
      all.putAll(Map.of(parts[0], parts[1]));
    }
    return GatewayAdmitRequest.of(Convention.of(target), method, target, all::get);
  }
}
