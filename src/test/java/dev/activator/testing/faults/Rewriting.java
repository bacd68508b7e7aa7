package dev.activator.testing.faults;

import dev.activator.embedded.api.store.Json;
import java.util.Base64;
import java.util.List;
import java.util.function.Consumer;
import org.springframework.http.HttpHeaders;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.util.LinkedMultiValueMap;
import org.springframework.util.MultiValueMap;
import tools.jackson.databind.node.ObjectNode;

/** Makes of a request another one, which the server then answers as it should. */
final class Rewriting {
  private static final String CONTINUE = "continue";
  private static final String VERSION = "resourceVersion";
  private static final long LONG_GONE = 1;

  private final Faults faults;

  Rewriting(Faults faults) {
    this.faults = faults;
  }

  ServerHttpRequest of(ServerHttpRequest request, OpenCall call, List<Fault> hits) {
    var query = request.getQueryParams();
    var headers = request.getHeaders();
    for (var hit : hits) {
      if (hit instanceof Fault.OnRequest onRequest) {
        query = rewritten(query, onRequest);
      } else if (hit instanceof Fault.OnBody) {
        headers = plain(headers);
      }
    }
    return new TappedRequest(request, query, headers, call, hits);
  }

  private MultiValueMap<String, String> rewritten(MultiValueMap<String, String> query,
      Fault.OnRequest fault) {
    var changed = new LinkedMultiValueMap<>(query);
    switch (fault) {
      case Fault.StaleRead stale -> stale(changed, stale);
      case Fault.ExpiredToken _ -> changed.computeIfPresent(CONTINUE,
          (_, tokens) -> List.of(token(tokens.getFirst(), Rewriting::expire)));
      case Fault.RepeatedItem _ -> changed.computeIfPresent(CONTINUE,
          (_, tokens) -> List.of(token(tokens.getFirst(), Rewriting::stepBack)));
      case Fault.WatchTimeout(var timeout) ->
        changed.set("timeoutSeconds", Long.toString(Math.max(1, timeout.toSeconds())));
    }
    return changed;
  }

  private void stale(MultiValueMap<String, String> query, Fault.StaleRead stale) {
    boolean anything = "0".equals(query.getFirst(VERSION));
    if (anything || stale.reads() == Fault.StaleRead.Reads.ALL) {
      query.set(VERSION, Long.toString(Math.max(1, faults.newest() - stale.revisionsBack())));
      query.set("resourceVersionMatch", "Exact");
      query.remove("limit");
    }
  }

  private static void expire(ObjectNode token) {
    token.put("rv", LONG_GONE);
  }

  /** A page begins after an object; without this mark it begins with it. */
  private static void stepBack(ObjectNode token) {
    token.put("start", token.path("start").asString("").replace("\u0000", ""));
  }

  private static String token(String text, Consumer<ObjectNode> change) {
    var token = (ObjectNode) Json.MAPPER.readTree(Base64.getUrlDecoder().decode(text));
    change.accept(token);
    return Base64.getUrlEncoder().withoutPadding().encodeToString(Json.bytes(token));
  }

  /** A body that is to be changed must not be compressed. */
  private static HttpHeaders plain(HttpHeaders headers) {
    var plain = new HttpHeaders();
    plain.putAll(headers);
    plain.remove("Accept-Encoding");
    return plain;
  }
}
