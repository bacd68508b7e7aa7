/** The soak of {@code bench/drills/soak}: everything at once, for an hour, and zero at the end. */
@NullMarked
package dev.activator.bench.soak;

import org.jspecify.annotations.NullMarked;
