package dev.activator.cluster.decode;

import dev.activator.cluster.informer.VersionedObject;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What is kept of an object: its fact, and what was wrong with it.
 *
 * @param fact what it means; null if nothing
 * @param problem why it is malformed; null if it is not
 * @param remarks what was left out of the fact, each in a sentence
 */
public record Decoded<F>(@Nullable F fact, @Nullable String problem, List<String> remarks) {

  /** A malformed object keeps the fact that is stored, unless that is another object's. */
  public static <F> VersionedObject<Decoded<F>> keepingFact(
      @Nullable VersionedObject<Decoded<F>> stored, VersionedObject<Decoded<F>> seen) {
    var now = seen.object();
    if (now.problem == null || stored == null || !Objects.equals(stored.uid(), seen.uid())) {
      return seen;
    }
    return new VersionedObject<>(seen.key(), seen.uid(), seen.resourceVersion(),
        new Decoded<>(stored.object().fact, now.problem, now.remarks));
  }
}
