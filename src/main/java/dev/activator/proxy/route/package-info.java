/**
 * Finds out what a request is, and where it goes: to a revision, or no further than here.
 * Nothing is changed or sent yet.
 */
@NullMarked
package dev.activator.proxy.route;

import org.jspecify.annotations.NullMarked;
