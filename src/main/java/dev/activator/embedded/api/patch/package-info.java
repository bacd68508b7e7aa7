/**
 * The patch formats of the Kubernetes API as functions of trees: JSON patch, merge patch, strategic
 * merge patch and a simple apply. None changes what it is given.
 */
@NullMarked
package dev.activator.embedded.api.patch;

import org.jspecify.annotations.NullMarked;
