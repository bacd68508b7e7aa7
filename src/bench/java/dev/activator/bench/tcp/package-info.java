/** A drill with connections over TCP through several activators. */
@NullMarked
package dev.activator.bench.tcp;

import org.jspecify.annotations.NullMarked;
