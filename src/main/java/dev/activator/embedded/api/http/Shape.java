package dev.activator.embedded.api.http;

import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.springframework.http.MediaType;

/**
 * In what shape a client wants objects.
 *
 * <p>
 * <b>Source.</b> {@code endpoints/handlers/negotiation/negotiate.go} in Kubernetes' apiserver.
 */
enum Shape {
  /** As they are. */
  PLAIN,
  /** As rows of a table, for people. */
  TABLE,
  /** Their metadata alone. */
  METADATA;

  private static final String GROUP = "meta.k8s.io";
  private static final Set<String> VERSIONS = Set.of("v1", "v1beta1");

  /** The first that a client accepts and that can be given; empty if there is none. */
  static Optional<Shape> accepted(List<MediaType> accept) {
    if (accept.isEmpty()) {
      return Optional.of(PLAIN);
    }
    return accept.stream().filter(type -> type.getQualityValue() > 0)
        .sorted(Comparator.comparing(MediaType::getQualityValue).reversed()).map(Shape::of)
        .flatMap(Optional::stream).findFirst();
  }

  private static Optional<Shape> of(MediaType type) {
    if (!type.isCompatibleWith(MediaType.APPLICATION_JSON)) {
      return Optional.empty();
    }
    String as = type.getParameter("as");
    if (as == null) {
      return Optional.of(PLAIN);
    }
    boolean known = GROUP.equals(type.getParameter("g"))
        && VERSIONS.contains(String.valueOf(type.getParameter("v")));
    return switch (as) {
      case "Table" -> known ? Optional.of(TABLE) : Optional.empty();
      case "PartialObjectMetadata", "PartialObjectMetadataList" ->
        known ? Optional.of(METADATA) : Optional.empty();
      default -> Optional.empty();
    };
  }
}
