import type { TargetedSubmitEvent, VNode } from "preact";
import type { App, AppState } from "../app.ts";
import { Problem } from "./problem.tsx";

/** Takes a key from somebody who came without one. */
export function SignIn({ state, app }: { readonly state: AppState; readonly app: App }): VNode {
  const checking = state.access === "checking";
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const key = new FormData(event.currentTarget).get("key");
    if (typeof key === "string" && key.trim() !== "") void app.signIn(key.trim());
  };
  return (
    <main class="sign-in">
      <h1>light-agent</h1>
      <form onSubmit={submit}>
        <label for="key">API key</label>
        <input
          id="key"
          name="key"
          type="password"
          autocomplete="off"
          spellcheck={false}
          required
          placeholder="la_…"
          aria-describedby="key-help"
        />
        <p id="key-help" class="hint">
          A key of your tenant. <code>npm start</code> prints a link that signs you in; an admin makes further
          keys. It stays in this tab until you close it or sign out.
        </p>
        {state.problem && <Problem error={state.problem} />}
        <button type="submit" class="primary" disabled={checking}>
          {checking ? "Signing in…" : "Sign in"}
        </button>
      </form>
    </main>
  );
}
