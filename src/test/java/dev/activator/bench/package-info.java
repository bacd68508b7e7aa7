/**
 * Programs that measure, each run by a script in {@code bench/}. They are compiled with the tests
 * and are none.
 */
@NullMarked
package dev.activator.bench;

import org.jspecify.annotations.NullMarked;
