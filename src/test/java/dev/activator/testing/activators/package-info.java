/** Several activators that share the pods of one revision. */
@NullMarked
package dev.activator.testing.activators;

import org.jspecify.annotations.NullMarked;
