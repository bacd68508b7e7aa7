/**
 * Keeps one limit per pod over all activators. The activator that owns a pod lends permits of it to
 * the others.
 */
@NullMarked
package dev.activator.ext.lending;

import org.jspecify.annotations.NullMarked;
