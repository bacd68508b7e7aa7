/** Reports each revision's concurrency to the autoscaler. */
@NullMarked
package dev.activator.stats;

import org.jspecify.annotations.NullMarked;
