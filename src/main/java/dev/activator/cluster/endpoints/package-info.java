/**
 * Where a revision's pods and the activators are, read from EndpointSlices or Endpoints, whichever tells
 * more.
 */
@NullMarked
package dev.activator.cluster.endpoints;

import org.jspecify.annotations.NullMarked;
