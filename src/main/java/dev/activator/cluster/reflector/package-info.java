/** Lists and watches objects, resumes broken watches, and verifies silent ones. */
@NullMarked
package dev.activator.cluster.reflector;

import org.jspecify.annotations.NullMarked;
