/**
 * Where a revision's pods and the activators are, read from EndpointSlices or Endpoints, whichever tells
 * more.
 */
@NullMarked
package dev.activator.cluster.address;

import org.jspecify.annotations.NullMarked;
