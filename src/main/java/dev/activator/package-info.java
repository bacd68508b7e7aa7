/** {@code main}, and the configurations of the modes in a cluster. */
@NullMarked
package dev.activator;

import org.jspecify.annotations.NullMarked;
