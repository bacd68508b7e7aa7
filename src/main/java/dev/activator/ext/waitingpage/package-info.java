/** Waiting pages for browsers, while a revision starts. */
@NullMarked
package dev.activator.ext.waitingpage;

import org.jspecify.annotations.NullMarked;
