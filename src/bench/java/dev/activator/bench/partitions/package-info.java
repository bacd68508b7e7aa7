/** A drill that cuts one road of one activator after the other. */
@NullMarked
package dev.activator.bench.partitions;

import org.jspecify.annotations.NullMarked;
