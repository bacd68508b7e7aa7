/**
 * Pages and reports about the state of the activator, and about why requests wait. They only read
 * that state.
 */
@NullMarked
package dev.activator.ext.console;

import org.jspecify.annotations.NullMarked;
