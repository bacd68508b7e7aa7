package dev.activator.cluster.decode;

import dev.activator.cluster.informer.VersionedObject;
import java.util.List;

/**
 * Some or all objects of a list.
 *
 * @param resourceVersion of the whole list; a watch goes on from there
 * @param next asks for the next page; empty on the last one
 */
public record Page<T>(List<VersionedObject<T>> items, String resourceVersion, String next) {}
