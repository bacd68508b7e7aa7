/**
 * Programs that measure, each run by a script in {@code bench/}. They are compiled with
 * {@code -Pbench} only, after the tests, whose helpers they use.
 */
@NullMarked
package dev.activator.bench;

import org.jspecify.annotations.NullMarked;
