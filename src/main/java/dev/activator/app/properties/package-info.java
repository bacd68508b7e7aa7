/**
 * Settings that are fixed at the start: a record for each prefix, checked where it is bound, and where
 * the values come from. Only the wiring sees them.
 */
@NullMarked
package dev.activator.app.properties;

import org.jspecify.annotations.NullMarked;
