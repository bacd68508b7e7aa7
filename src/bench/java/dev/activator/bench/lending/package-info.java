/** A drill with several activators that share the pods of one revision. */
@NullMarked
package dev.activator.bench.lending;

import org.jspecify.annotations.NullMarked;
