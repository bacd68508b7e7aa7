/**
 * What the request path decides, as functions of values: what a request means, which headers go on,
 * when to give up, what a failure looks like. Bytes and connections are next door.
 */
@NullMarked
package dev.activator.proxy.policy;

import org.jspecify.annotations.NullMarked;
