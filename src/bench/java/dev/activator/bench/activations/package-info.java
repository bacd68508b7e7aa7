/** Many revisions that start from zero at once. */
@NullMarked
package dev.activator.bench.activations;

import org.jspecify.annotations.NullMarked;
