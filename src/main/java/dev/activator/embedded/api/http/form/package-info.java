/**
 * What an answer looks like: objects plain, as their metadata alone, or as the rows of a table;
 * pages of them, and batches of events. It decides nothing about what is in them.
 */
@NullMarked
package dev.activator.embedded.api.http.form;

import org.jspecify.annotations.NullMarked;
