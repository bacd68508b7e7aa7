package dev.activator.cluster.decode;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A decoded object: our record of it, or why there is none.
 *
 * @param fact null if irrelevant or malformed
 * @param problem why it is malformed
 * @param remarks what was left out of the fact, one sentence each
 */
public record Decoded<F>(@Nullable F fact, @Nullable String problem, List<String> remarks) {
  Decoded<F> with(@Nullable F other) {
    return new Decoded<>(other, problem, remarks);
  }
}
