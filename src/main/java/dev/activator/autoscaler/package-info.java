/** Decides how many pods each revision has, not how they are made. */
@NullMarked
package dev.activator.autoscaler;

import org.jspecify.annotations.NullMarked;
