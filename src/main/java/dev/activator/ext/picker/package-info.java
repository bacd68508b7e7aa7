/** Answers to gateways: which pod a request may run on. The endpoint picker of Gateway API's inference extension. */
@NullMarked
package dev.activator.ext.picker;

import org.jspecify.annotations.NullMarked;
