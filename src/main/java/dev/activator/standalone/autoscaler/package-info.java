/**
 * The autoscaler: it decides how many pods each revision has, and writes that number to the
 * revision's scale.
 */
@NullMarked
package dev.activator.standalone.autoscaler;

import org.jspecify.annotations.NullMarked;
