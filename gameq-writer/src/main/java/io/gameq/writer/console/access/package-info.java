/**
 * Who may see and do what in the console.
 *
 * <pre>
 * GuardedRoutes     each route with what it needs; nothing is answered but through these
 *   BrowserRules    what browsers are told (headers); http.OwnPage: where a request came from
 *   SigningIn       token and name -&gt; a session with a cookie; sign out; ids for forms
 *     Sessions      those that are signed in, by a cookie that the token signs: SignedIn
 *   Visitor         who asks
 *   RequestBody     what a request says, up to a limit
 * </pre>
 *
 * <p>A request that changes something passes, in this order: Origin, type, size, session, role,
 * CSRF token, form id. Without tokens in the configuration there is no session, and so nothing but
 * looking.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.console.access;
