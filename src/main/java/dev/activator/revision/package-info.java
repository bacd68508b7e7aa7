/** Values that all stages share: what a revision is, and where its requests can go. */
@NullMarked
package dev.activator.revision;

import org.jspecify.annotations.NullMarked;
