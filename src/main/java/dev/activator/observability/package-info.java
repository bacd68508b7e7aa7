/**
 * What the activator says about itself, and how it leaves the process. The request path writes down
 * what happens to a request; what is recorded of it is decided here.
 */
@NullMarked
package dev.activator.observability;

import org.jspecify.annotations.NullMarked;
