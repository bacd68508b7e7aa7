/**
 * What the state of a revision means to people who ask why a request waits. Values in, words out.
 */
@NullMarked
package dev.activator.console.policy;

import org.jspecify.annotations.NullMarked;
