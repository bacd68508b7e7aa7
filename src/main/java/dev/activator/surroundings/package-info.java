/**
 * What is around the activator in each mode: a cluster, or a platform of its own in this process.
 * Everything else is wired the same.
 */
@NullMarked
package dev.activator.surroundings;

import org.jspecify.annotations.NullMarked;
