package dev.activator.embedded.api.store;

import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;
import tools.jackson.databind.node.ObjectNode;

/**
 * What is in a namespace, and what there is of a kind that a client brought: both go only after all
 * of it.
 *
 * @param storage where it is
 * @param kinds that there are
 */
record Contents(Storage storage, KindRegistry kinds) {
  /** One object and its kind. */
  record Item(Kind kind, ObjectNode object) {}

  /** All that the holder holds; nothing for an object of another kind. */
  List<Item> of(Kind kind, ObjectNode holder) {
    return stream(kind, holder).toList();
  }

  boolean none(Kind kind, ObjectNode holder) {
    return stream(kind, holder).findAny().isEmpty();
  }

  private Stream<Item> stream(Kind kind, ObjectNode holder) {
    String name = Meta.name(holder);
    if (kind.equals(Kinds.NAMESPACE)) {
      return kinds.all().stream().filter(Kind::namespaced)
          .flatMap(held -> items(held, object -> Meta.namespace(object).equals(name)));
    }
    if (kind.equals(Kinds.CUSTOM_RESOURCE_DEFINITION)) {
      return kinds.all().stream()
          .filter(held -> held.resource().equals(name) && !Kinds.all().contains(held))
          .flatMap(held -> items(held, _ -> true));
    }
    return Stream.empty();
  }

  private Stream<Item> items(Kind kind, Predicate<ObjectNode> wanted) {
    return storage.list(kind).stream().filter(wanted).map(object -> new Item(kind, object));
  }
}
