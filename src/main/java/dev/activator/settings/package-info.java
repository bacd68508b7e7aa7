/**
 * Settings that are fixed at the start. There is a record for each prefix, which is checked when it
 * is bound.
 */
@NullMarked
package dev.activator.settings;

import org.jspecify.annotations.NullMarked;
