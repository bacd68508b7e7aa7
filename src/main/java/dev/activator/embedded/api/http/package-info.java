/**
 * The Kubernetes API over HTTP. This package converts requests to calls of the store and the
 * caches, and makes no other decisions.
 */
@NullMarked
package dev.activator.embedded.api.http;

import org.jspecify.annotations.NullMarked;
