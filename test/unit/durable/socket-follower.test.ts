import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CLOSE } from "../../../src/runtime/protocol/websocket.ts";
import { SocketClient } from "./socket-client.ts";
import { StreamRig } from "./stream-rig.ts";

const SMALL = { syncBytes: 500, replayPauseBytes: 1_000, socketCloseBytes: 2_000, replayPageBytes: 300 };

/** A session whose log is longer than a socket may be sent unanswered. */
function longLog(): StreamRig {
  const rig = new StreamRig(SMALL);
  for (let step = 1; step <= 30; step += 1) {
    rig.commit(["output", { step, text: "x".repeat(60) }], ["agent_trace", { step }]);
  }
  return rig;
}

describe("a socket", () => {
  it("[WIRE-72] is told nothing live before its replay has reached the head, also when the replay pauses", async () => {
    const rig = longLog();
    const client = new SocketClient(rig);
    client.follower.pump();
    await rig.show(31, "early");
    rig.commit(["output", { step: 31 }], ["agent_trace", { step: 31 }]);
    await rig.show(32, "open ");
    client.take();
    expect(client.types.indexOf("live")).toBeGreaterThan(5);
    expect(client.types.slice(0, client.types.indexOf("live"))).not.toContain("text_delta");
    expect(client.view).toMatchObject({
      events: rig.events,
      gap: false,
      blocks: [{ step: 32, text: "open " }],
    });
    await rig.show(32, "text");
    client.take();
    expect(client.view.blocks).toMatchObject([{ text: "open text" }]);
  });

  it("[WIRE-71] gets everything once, however often it subscribes, answers or is pumped", async () => {
    const rig = new StreamRig(SMALL);
    rig.commit(["input"]);
    const client = new SocketClient(rig);
    client.follower.pump();
    client.follower.subscribe(undefined, false);
    client.follower.subscribe(undefined, false);
    client.follower.pump();
    for (const n of [1, 0, 7]) client.follower.synced(n);
    rig.commit(["output", { step: 1, text: "x".repeat(700) }], ["agent_trace", { step: 1 }]);
    await rig.show(2, "a");
    client.take();
    for (const n of [1, 1]) client.follower.synced(n);
    client.take();
    expect(client.types).toEqual(["events", "live", "events", "sync", "text_delta"]);
  });

  it("[WIRE-38] that does not keep pace is closed once, and told nothing more", async () => {
    const rig = new StreamRig(SMALL);
    const slow = new SocketClient(rig);
    const other = new SocketClient(rig);
    for (const { follower } of [slow, other]) follower.pump();
    for (let step = 1; step <= 20; step += 1) {
      rig.commit(["output", { step, text: "x".repeat(200) }], ["agent_trace", { step }]);
      other.take();
    }
    expect(slow.closed).toBe(CLOSE.tooSlow);
    const sent = slow.unread.reduce((sum, frame) => sum + JSON.stringify(frame).length, 0);
    expect(sent).toBeLessThan(SMALL.socketCloseBytes + 1_000);
    expect(other).toMatchObject({ closed: null, view: { events: rig.events, gap: false } });
  });

  it("[WIRE-75] that has broken disturbs no other", async () => {
    const rig = new StreamRig(SMALL);
    const [gone, other] = [new SocketClient(rig), new SocketClient(rig)];
    for (const { follower } of [gone, other]) follower.pump();
    gone.broken = true;
    for (let step = 1; step <= 9; step += 1) {
      rig.commit(["output", { step, text: "x".repeat(400) }]);
      other.take();
    }
    expect(other.view.head).toBe(9);
  });

  it("[WIRE-60] goes on after the object has lost its memory where its attachment says", async () => {
    const rig = longLog();
    const replaying = new SocketClient(rig);
    replaying.follower.pump();
    expect(replaying.kept?.cursor).toBeGreaterThan(0);
    replaying.follower.leave();
    replaying.take(2);
    const { view, kept, unread } = replaying;
    const again = new SocketClient(rig, view, kept ?? undefined);
    // What was under way before reaches the client first.
    again.unread.push(...unread.filter(({ type }) => type !== "sync"));
    again.follower.pump();
    again.take();
    expect(again.view).toMatchObject({ events: rig.events, gap: false });
    expect(again.kept?.cursor).toBeNull();
    expect(again.types.filter((type) => type === "live")).toHaveLength(1);
  });

  it("[WIRE-33] holds the log and the open text, at whatever pace its client reads and however often it is closed", async () => {
    const acts = fc.constantFrom("show", "show", "commit", "take", "take all", "drop");
    await fc.assert(
      fc.asyncProperty(fc.array(acts, { maxLength: 80 }), async (script) => {
        const rig = new StreamRig(SMALL);
        const steady = new SocketClient(rig);
        steady.follower.pump();
        let client = new SocketClient(rig);
        client.follower.pump();
        let step = 1;
        for (const act of script) {
          if (act === "show") await rig.show(step, "some text that is shown ");
          else if (act === "commit")
            rig.commit(["output", { step, text: "y".repeat(150) }], ["agent_trace", { step: step++ }]);
          else if (act !== "drop") client.take(act === "take" ? 1 : undefined);
          steady.take();
          if (act !== "drop" && client.closed === null) continue;
          client.follower.leave();
          client = new SocketClient(rig, { ...client.view, gap: false });
          client.follower.pump();
        }
        client.take();
        expect(client.view).toMatchObject({ events: rig.events, gap: false });
        expect(client.view.blocks).toEqual(steady.view.blocks);
      }),
      { numRuns: 100 },
    );
  });
});
