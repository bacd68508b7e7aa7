package dev.activator.kube.decode;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The result of decoding a Kubernetes object: our record of it, or the reason why there is none.
 *
 * @param value the record; null if the object is irrelevant or malformed
 * @param problem why the object is malformed; null if it is not
 * @param remarks the parts of the object that were ignored, one sentence each
 */
public record ObjectDecodeResult<F>(@Nullable F value, @Nullable String problem,
    List<String> remarks) {
  ObjectDecodeResult<F> with(@Nullable F other) {
    return new ObjectDecodeResult<>(other, problem, remarks);
  }
}
