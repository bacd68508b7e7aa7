/** Registers the metrics of packages that do not use the metrics library themselves. */
@NullMarked
package dev.activator.meters;

import org.jspecify.annotations.NullMarked;
