package dev.activator.cluster.decode;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The result of decoding a Kubernetes object: our record of it, or why there is none.
 *
 * @param fact null if irrelevant or malformed
 * @param problem why it is malformed
 * @param remarks what was left out of the fact, one sentence each
 */
public record ObjectDecodeResult<F>(@Nullable F fact, @Nullable String problem,
    List<String> remarks) {
  ObjectDecodeResult<F> with(@Nullable F other) {
    return new ObjectDecodeResult<>(other, problem, remarks);
  }
}
