/** Pure functions about retries and rates. */
@NullMarked
package dev.activator.loop.policy;

import org.jspecify.annotations.NullMarked;
