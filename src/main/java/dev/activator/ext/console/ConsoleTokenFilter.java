package dev.activator.ext.console;

import dev.activator.management.ManagementPages;
import dev.activator.ext.console.TokenReviewAuthorizer.Answer;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.server.reactive.HttpHandler;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpResponse;
import reactor.core.publisher.Mono;

/**
 * A filter that passes on a request only if its token may read the console. Browsers send the token
 * as the password of basic authentication, with any user name.
 */
final class ConsoleTokenFilter {
  private static final Logger log = LoggerFactory.getLogger(ConsoleTokenFilter.class);
  /** The non-resource URL that readers need the right to get. */
  static final String URL = "/console";
  private static final int MAX_LENGTH = 16_384;

  private final Function<String, CompletableFuture<Answer>> check;
  private final AtomicReference<String> lastFailure = new AtomicReference<>("");

  ConsoleTokenFilter(TokenReviewAuthorizer authorizer) {
    this(authorizer::check);
  }

  ConsoleTokenFilter(Function<String, CompletableFuture<Answer>> check) {
    this.check = check;
  }

  /** Calls the handler only if the request is allowed. */
  HttpHandler around(HttpHandler handler) {
    return (request, response) -> {
      var token = token(request.getHeaders().getOrEmpty(HttpHeaders.AUTHORIZATION).stream()
          .findFirst().orElse(""));
      return token == null
          ? unauthenticated(response)
          : Mono.fromFuture(() -> check.apply(token))
              .flatMap(answer -> decide(answer, handler, request, response));
    };
  }

  /** The token of an Authorization header; null if there is none. */
  static @Nullable String token(String authorization) {
    int blank = authorization.indexOf(' ');
    if (blank < 0 || authorization.length() > MAX_LENGTH) {
      return null;
    }
    var credentials = authorization.substring(blank + 1).strip();
    var token = switch (authorization.substring(0, blank).toLowerCase(Locale.ROOT)) {
      case "bearer" -> credentials;
      case "basic" -> password(credentials);
      default -> "";
    };
    return token.isEmpty() ? null : token;
  }

  private static String password(String credentials) {
    try {
      var pair = new String(Base64.getDecoder().decode(credentials), StandardCharsets.UTF_8);
      return pair.substring(pair.indexOf(':') + 1);
    } catch (IllegalArgumentException e) {
      return "";
    }
  }

  private Mono<Void> decide(Answer answer, HttpHandler handler, ServerHttpRequest request,
      ServerHttpResponse response) {
    return switch (answer) {
      case Answer.Allowed(var user) -> {
        lastFailure.set("");
        log.debug("{} reads {}", user, request.getPath());
        yield handler.handle(request, response);
      }
      case Answer.Unauthenticated _ -> unauthenticated(response);
      case Answer.Forbidden(var user) -> answer(response, HttpStatus.FORBIDDEN,
          user + " may not get the non-resource URL " + URL);
      case Answer.Busy _ -> {
        response.getHeaders().set(HttpHeaders.RETRY_AFTER, "1");
        yield answer(response, HttpStatus.TOO_MANY_REQUESTS, "too many tokens are being checked");
      }
      case Answer.Failed(var why) -> {
        if (!why.equals(lastFailure.getAndSet(why))) {
          log.warn("The console cannot be read, because tokens cannot be checked: {}", why);
        }
        yield answer(response, HttpStatus.SERVICE_UNAVAILABLE, "the token cannot be checked; the"
            + " activator's log says why");
      }
    };
  }

  private static Mono<Void> unauthenticated(ServerHttpResponse response) {
    response.getHeaders().add(HttpHeaders.WWW_AUTHENTICATE, "Bearer");
    response.getHeaders().add(HttpHeaders.WWW_AUTHENTICATE, "Basic realm=\"activator\"");
    return answer(response, HttpStatus.UNAUTHORIZED, "the console needs a token of this cluster, as"
        + " \"Authorization: Bearer\" or as the password of any user; see kubectl create token");
  }

  private static Mono<Void> answer(ServerHttpResponse response, HttpStatus status, String why) {
    response.setStatusCode(status);
    return ManagementPages.text(response, why);
  }
}
