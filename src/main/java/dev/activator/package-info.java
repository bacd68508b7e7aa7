/** {@code main}, and the two configurations that it chooses between. */
@NullMarked
package dev.activator;

import org.jspecify.annotations.NullMarked;
