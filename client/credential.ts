/**
 * What proves who calls: an API key or a session token, or a function that gives one. The function is asked before each
 * call and each connection, so it keeps what it has for as long as that holds.
 */
export type Credential = string | (() => string | Promise<string>);

/** The credential as text. Of a text at once, so that nobody waits who need not. */
export function credentialText(credential: Credential): string | Promise<string> {
  return typeof credential === "function" ? credential() : credential;
}
