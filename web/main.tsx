import { render } from "preact";
import { RestClient, SessionStore } from "../client/index.ts";
import { App } from "./app.ts";
import { AppView } from "./components/app-view.tsx";

const url = location.origin;
const app = new App({
  rest: (credential) => new RestClient({ url, credential }),
  openSession: (session, credential, rest) =>
    new SessionStore({ url, credential, session, rest, turnsAtOnce: 40 }),
  storage: sessionStorage,
  location,
  history,
});

const root = document.querySelector("#app");
if (!root) throw new TypeError("The page has no #app.");

// At most one drawing per frame, however many events come.
let due = false;
function draw(): void {
  due = false;
  if (root) render(<AppView state={app.value} app={app} />, root);
}
app.subscribe(() => {
  if (!due) requestAnimationFrame(draw);
  due = true;
});

addEventListener("hashchange", () => app.followAddress());
addEventListener("online", () => app.wake());
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "visible") app.wake();
});
// A file that misses its target would replace the page.
for (const type of ["dragover", "drop"]) addEventListener(type, (event) => event.preventDefault());

draw();
app.followAddress();
