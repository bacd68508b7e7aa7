/**
 * What the activator says about itself: meters, spans, the request log, log lines and the cold
 * starts it remembers. The request path tells what happens to a {@link RequestRecord}, and nobody else
 * decides what is recorded.
 */
@NullMarked
package dev.activator.observability;

import org.jspecify.annotations.NullMarked;
