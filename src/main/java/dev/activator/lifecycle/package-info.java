/**
 * When the process may be sent requests, and in which order its parts start and stop. Knows the
 * parts only by name.
 */
@NullMarked
package dev.activator.lifecycle;

import org.jspecify.annotations.NullMarked;
