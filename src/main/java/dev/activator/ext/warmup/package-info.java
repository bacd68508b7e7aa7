/**
 * Requests and cold starts that the activator performs by itself, so that its code is compiled
 * before the first caller comes.
 */
@NullMarked
package dev.activator.ext.warmup;

import org.jspecify.annotations.NullMarked;
