package dev.activator.embedded.api.store;

import java.util.List;
import tools.jackson.databind.node.ObjectNode;

/**
 * All objects of a kind at one moment. They are shared and never change.
 *
 * @param kind of which kind
 * @param objects in order of namespace and name
 * @param revision of the store at that moment
 */
public record Listing(Kind kind, List<ObjectNode> objects, long revision) {}
