/**
 * What is seen of one request on its way, and the meters of requests that are counted from it.
 */
@NullMarked
package dev.activator.observability.request;

import org.jspecify.annotations.NullMarked;
