/** Follows the pods of each revision, and publishes the destinations that can take requests. */
@NullMarked
package dev.activator.backend;

import org.jspecify.annotations.NullMarked;
