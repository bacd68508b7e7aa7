/**
 * What is decided about connections to pods, as functions of values. How they are opened and kept
 * is next door.
 */
@NullMarked
package dev.activator.upstream.policy;

import org.jspecify.annotations.NullMarked;
