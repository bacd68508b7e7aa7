/** {@code main}, and the three configurations that it chooses between. */
@NullMarked
package dev.activator;

import org.jspecify.annotations.NullMarked;
