/**
 * Stages as the meters see them: each writes down what another package tells it. Here, since neither
 * of the two knows the other.
 */
@NullMarked
package dev.activator.measured;

import org.jspecify.annotations.NullMarked;
