/**
 * Keeps the objects of a kind as the API has them: lists, watches, resumes, lists again where a watch
 * cannot go on, and verifies a watch that is silent.
 */
@NullMarked
package dev.activator.cluster.reflector;

import org.jspecify.annotations.NullMarked;
