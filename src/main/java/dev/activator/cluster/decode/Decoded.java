package dev.activator.cluster.decode;

import dev.activator.cluster.informer.VersionedObject;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What is kept of an object: its fact, and what was wrong with it.
 *
 * @param fact what it means; null if nothing
 * @param problem why it is malformed; null if it is not
 * @param remarks what was left out of the fact, each in a sentence
 */
public record Decoded<F>(@Nullable F fact, @Nullable String problem, List<String> remarks) {
  Decoded<F> with(@Nullable F other) {
    return new Decoded<>(other, problem, remarks);
  }
}
