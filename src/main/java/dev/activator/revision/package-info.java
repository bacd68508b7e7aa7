/** Values that all stages share. */
@NullMarked
package dev.activator.revision;

import org.jspecify.annotations.NullMarked;
