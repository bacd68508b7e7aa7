/**
 * What can go wrong, with which requests, when and how often, and how it is undone.
 */
@NullMarked
package dev.activator.embedded.api.faults.plan;

import org.jspecify.annotations.NullMarked;
