/** The request log: a line on standard output for each request. */
@NullMarked
package dev.activator.ext.requestlog;

import org.jspecify.annotations.NullMarked;
