/**
 * What clients ask before they ask for anything: groups, versions and kinds, in the one document and
 * in many, and their OpenAPI description.
 */
@NullMarked
package dev.activator.embedded.api.http.discovery;

import org.jspecify.annotations.NullMarked;
