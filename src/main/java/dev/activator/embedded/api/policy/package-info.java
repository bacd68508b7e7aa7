/**
 * What the API server decides, as functions of values: which names are allowed, what a selector
 * matches, what a read asks for. Nothing here knows of JSON trees, threads or sockets.
 */
@NullMarked
package dev.activator.embedded.api.policy;

import org.jspecify.annotations.NullMarked;
