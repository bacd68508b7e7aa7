/** Lists and watches objects, resumes broken watches, and verifies silent ones. */
@NullMarked
package dev.activator.kube.reflector;

import org.jspecify.annotations.NullMarked;
