import { isInjected } from "./faults.ts";
import { borrowGlobals } from "./borrowed-globals.ts";
import { lifeNow } from "./life.ts";
import { settled } from "./scheduler.ts";
import { World } from "./world.ts";
import type { Broken } from "./world.ts";

/** What one world came to. */
export interface Outcome {
  readonly seed: number;
  readonly broken: readonly Broken[];
  readonly counts: readonly (readonly [string, number])[];
  /** Equal for two runs of one seed. */
  readonly fingerprint: number;
}

/** More tasks than any world takes that comes to rest. */
const MOST_TASKS = 8_000;

/** While people still answer, time does not run to the end of their requests. */
const PATIENCE_MS = 120_000;

/** Lives one world from its beginning until it is at rest, and looks whether everything that was promised was kept. */
export async function runSeed(seed: number, print: ((line: string) => void) | null = null): Promise<Outcome> {
  const world = new World(seed, print);
  const giveBack = borrowGlobals(world.dice, world.scheduler, (values) => {
    const life = lifeNow();
    // The product logs where an error came from, not what it says: an instance that was hurt is taken at its word.
    if (!life || life.hurt || life.state !== "current") return;
    if (JSON.stringify(values).includes("InjectedFault")) return;
    world.violate("no-surprise", `console.error: ${JSON.stringify(values)}`);
  });
  const rejected = (reason: unknown): void => {
    if (isInjected(reason)) return;
    world.violate("no-surprise", `unhandled: ${reason instanceof Error ? reason.stack : String(reason)}`);
  };
  process.on("unhandledRejection", rejected);
  try {
    await live(world);
  } finally {
    await settled();
    process.off("unhandledRejection", rejected);
    giveBack();
    world.platform.end("the end of the world");
    world.platform.disk.close();
  }
  const { broken, fingerprint } = world;
  return { seed, broken, fingerprint, counts: world.tally.entries() };
}

async function live(world: World): Promise<void> {
  const { platform, dice, scheduler, people, clients } = world;
  await create(world);
  for (const client of clients) if (dice.chance(0.7)) client.connect();
  let actions = dice.between(4, 25);
  const pace = dice.pick([20, 300, 5_000]);
  const act = (): void => {
    people.act();
    actions -= 1;
    if (actions > 0) scheduler.after(dice.between(0, dice.chance(0.5) ? 20 : pace), "people", act);
  };
  act();
  await pass(world, () => actions <= 0 && dice.chance(0.01));
  world.trace("— the weather clears up —");
  world.clearUp();
  // Half of the worlds are left alone: then only the alarm wakes the session, and requests run out.
  if (dice.chance(0.5)) await answerAll(world);
  await pass(world, () => false);
  if (world.broken.length === 0) world.oracle.atRest();
  for (const client of clients) client.connect();
  people.prompt(dice.pick(clients));
  await answerAll(world);
  await pass(world, () => false);
  if (world.broken.length === 0) world.oracle.atRest();
  // A tool may have killed the instance once more, and the sockets with it.
  for (const client of clients) client.connect();
  await pass(world, () => false);
  for (const client of clients) client.settle();
  world.oracle.settle();
  platform.end("the end of the world");
}

async function create(world: World): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    let created: boolean | null = null;
    void world.platform
      .call("create", (keeper) => keeper.create(world.session))
      .then((reply) => {
        created = reply !== "lost" && reply.ok;
      });
    await settled();
    while (created === null && (await world.scheduler.step()));
    await settled();
    if (created) return;
  }
  world.violate("rest", "the session cannot be created");
}

/** Lets tasks run until there are none, or until something says that it is enough. */
async function pass(world: World, enough: () => boolean): Promise<void> {
  for (let tasks = 0; tasks < MOST_TASKS; tasks += 1) {
    if (world.broken.length > 0 || enough()) return;
    strike(world);
    if (!(await world.scheduler.step())) return settled();
  }
  world.violate("rest", "the world does not come to rest");
}

/** A fault between two tasks. */
function strike({ dice, weather, platform }: World): void {
  if (dice.chance(weather.crash)) platform.end("at any moment");
  if (dice.chance(weather.evict)) platform.end("put out of memory; sockets kept", true);
  if (dice.chance(weather.replace)) platform.replace();
}

/** People answer whatever is open, until nothing is and nothing more happens for a while. */
async function answerAll(world: World): Promise<void> {
  const { scheduler, oracle, people, clients, dice } = world;
  for (let rounds = 0; rounds < 100; rounds += 1) {
    await pass(world, () => scheduler.next > scheduler.now + PATIENCE_MS);
    const open = oracle.mirror.openRequests;
    if (open.length === 0) return;
    for (const call of open) people.answer(dice.pick(clients), call);
  }
}
