/** Meters of the stages, which do not know meters themselves. */
@NullMarked
package dev.activator.meters;

import org.jspecify.annotations.NullMarked;
