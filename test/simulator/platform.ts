import { answer } from "../../src/runtime/protocol/answer.ts";
import type { Answer } from "../../src/runtime/protocol/answer.ts";
import { SessionKeeper } from "../../src/durable/session-keeper.ts";
import type { SessionEnvironment } from "../../src/durable/session-keeper.ts";
import type { Connection } from "partyserver";
import { Disk } from "./disk.ts";
import { isLightAgentError } from "../../src/runtime/protocol/errors.ts";
import { InjectedFault, isInjected } from "./faults.ts";
import type { Weather } from "./faults.ts";
import { Life, inLife } from "./life.ts";
import type { Frame } from "./oracle.ts";
import type { SimulatedSocket } from "./socket.ts";
import { SimulatedStorage } from "./storage.ts";
import type { World } from "./world.ts";

/** The code of a socket that broke without a word. */
const BROKEN = 1006;

/** How soon the platform repeats an alarm whose handler did not come to its end, in ms. */
const ALARM_AGAIN_MS = 2_000;

/** An instance with what it is made of. */
interface Instance {
  readonly life: Life;
  readonly storage: SimulatedStorage;
  readonly keeper: SessionKeeper;
  readonly connections: Map<string, Connection>;
}

/** What a caller of the object gets: its answer, or nothing, since the instance or the network failed. */
export type Reply<T> = Answer<T> | "lost";

/** The platform under one session object: makes and ends its instances, fires its alarm, holds its sockets. */
export class Platform {
  readonly disk = new Disk();
  readonly #world: World;
  readonly #environment: SessionEnvironment;
  readonly #sockets = new Set<SimulatedSocket>();
  #current: Instance | null = null;
  #lives = 0;
  #alarmSet: number | null = null;
  #cancelAlarm: () => void = () => undefined;

  constructor(world: World, environment: SessionEnvironment) {
    this.#world = world;
    this.#environment = environment;
  }

  /** Instances that have begun so far. */
  get lives(): number {
    return this.#lives;
  }

  get life(): Life | undefined {
    return this.#current?.life;
  }

  /** Prompts that wait in storage, and restores that have been accepted and not finished. */
  get owed(): number {
    const exists = this.disk.run("SELECT 1 FROM sqlite_schema WHERE name = 'meta'").length > 0;
    if (!exists) return 0;
    const waiting = this.disk.run("SELECT 1 FROM prompts WHERE state = 'waiting'");
    return waiting.length + this.disk.run("SELECT 1 FROM meta WHERE key = 'restore'").length;
  }

  get #weather(): Weather {
    return this.#world.weather;
  }

  /** Calls the object: `body` runs in its instance, which is made if there is none. */
  call<T>(label: string, body: (keeper: SessionKeeper) => Promise<T>): Promise<Reply<T>> {
    const { life, keeper, storage } = this.#wake(label);
    return new Promise((resolve) => {
      const lose = (): void => resolve("lost");
      life.callers.add(lose);
      void inLife(life, async () => {
        const given = await answer(
          () => body(keeper),
          (caught) => this.#unexpected(life, label, caught),
        );
        storage.afterWrites(() => {
          if (life.callers.delete(lose)) resolve(given);
        });
      });
    });
  }

  /** Accepts a socket and opens it, as the object's `fetch` and `onConnect` do. */
  async connect(socket: SimulatedSocket): Promise<Reply<null>> {
    return this.call(`connect ${socket.id}`, async (keeper) => {
      const { session, sockets } = await keeper.enter();
      session.checkCursor(socket.after);
      sockets.makeRoom();
      this.#sockets.add(socket);
      const { sockets: opened } = await keeper.enter();
      opened.open(this.#connection(socket), this.#world.caller(socket), socket.after);
      return null;
    });
  }

  /** A message of a client, as the object's `onMessage` takes it. */
  message(socket: SimulatedSocket, text: string): void {
    if (!socket.open) return;
    const { life, keeper } = this.#wake(`message of ${socket.id}`);
    void inLife(life, async () => {
      try {
        const { sockets } = await keeper.enter();
        await sockets.message(this.#connection(socket), text);
      } catch (caught) {
        this.#unexpected(life, "message", caught);
      }
    });
  }

  /** The client, or the network, has closed the socket. */
  disconnect(socket: SimulatedSocket): void {
    this.#sockets.delete(socket);
    socket.open = false;
    const instance = this.#current;
    if (instance) inLife(instance.life, () => instance.keeper.closed(this.#connection(socket)));
  }

  /** Ends the instance at once. Its sockets break, unless it was only put out of memory. */
  end(place: string, keepsSockets = false): void {
    const instance = this.#current;
    if (!instance) return;
    this.#current = null;
    this.#world.tally.count(`death: ${place}`);
    this.#world.trace(`— instance ${instance.life.number} ends (${place})`);
    instance.storage.abandon();
    instance.life.end("over");
    if (!keepsSockets) this.#breakSockets();
    this.#world.oracle.left();
  }

  /** A later instance takes over, though this one runs on for a while. */
  replace(): void {
    const instance = this.#current;
    if (!instance) return;
    this.#current = null;
    this.#world.tally.count("death: replaced; runs on");
    this.#world.trace(`— instance ${instance.life.number} is replaced and runs on`);
    instance.storage.abandon();
    instance.life.end("replaced");
    this.#breakSockets();
    this.#world.oracle.left();
    const { scheduler, dice } = this.#world;
    scheduler.afterOutside(dice.between(0, 8_000), "the replaced instance ends", () =>
      instance.life.end("over"),
    );
  }

  #breakSockets(): void {
    for (const socket of this.#sockets) socket.close(BROKEN);
    this.#sockets.clear();
  }

  #wake(why: string): Instance {
    if (this.#current) return this.#current;
    this.#lives += 1;
    const life = new Life(this.#lives);
    this.#world.trace(`+ instance ${life.number} begins (${why})`);
    this.#world.tally.count("instances");
    const storage = new SimulatedStorage(this.disk, {
      use: () => this.#requireStorage(life),
      write: (query) => this.#beforeWrite(life, query),
      committed: (tell) => this.#committed(life, tell),
      sync: async () => {
        this.#requireStorage(life);
        await this.#world.scheduler.pause(this.#world.dice.between(0, 3), "sync");
      },
    });
    const context = { storage: storage.platform, waitUntil: () => undefined };
    const keeper = inLife(life, () => {
      const state = context as unknown as DurableObjectState;
      return new SessionKeeper(state, this.#environment, () => this.#openConnections());
    });
    this.#current = { life, storage, keeper, connections: new Map() };
    return this.#current;
  }

  #openConnections(): Connection[] {
    return [...this.#sockets].filter(({ open }) => open).map((socket) => this.#connection(socket));
  }

  /** The same object for the same socket and instance, as on the platform. */
  #connection(socket: SimulatedSocket): Connection {
    const instance = this.#wake("socket");
    const known = instance.connections.get(socket.id);
    if (known) return known;
    const { life, storage, connections } = instance;
    const connection = socket.connectionOf(life, (text) => {
      const frame = JSON.parse(text) as Frame;
      storage.afterWrites(() => {
        if (!socket.open) return;
        this.#world.oracle.told(frame);
        socket.end.frame(frame);
      });
    });
    connections.set(socket.id, connection);
    return connection;
  }

  #requireStorage(life: Life): void {
    if (life.state !== "current") throw new InjectedFault("The storage belongs to another instance.");
  }

  #beforeWrite(life: Life, query: string): void {
    const { dice, tally } = this.#world;
    const place = /^\s*(\w+( INTO)?( \w+)?)/.exec(query)?.[1] ?? query;
    if (dice.chance(this.#weather.dieBeforeWrite)) {
      this.end(`before ${place}`);
      throw new InjectedFault("The instance died before a write.");
    }
    // A transaction as a whole, and the alarm, do not fail for want of room.
    const needsRoom = query !== "BEGIN" && query !== "COMMIT" && query !== "ALARM";
    if (!needsRoom || !dice.chance(this.#weather.fullDisk)) return;
    life.hurt = true;
    this.#world.faults += 1;
    this.#world.faultAt = this.#world.scheduler.now;
    tally.count(`write failed: ${place}`);
    this.#world.trace(`! write fails: ${place}`);
    throw new InjectedFault("database or disk is full: SQLITE_FULL");
  }

  #committed(life: Life, tell: () => void): void {
    const { dice, oracle } = this.#world;
    oracle.durable();
    this.#armAlarm();
    const dies = dice.chance(this.#weather.dieAfterWrite);
    if (!dies || dice.chance(0.5)) tell();
    if (dies && life.state === "current") this.end("after a write");
  }

  #armAlarm(): void {
    const due = this.disk.alarm;
    if (due === this.#alarmSet) return;
    this.#alarmSet = due;
    this.#cancelAlarm();
    if (due === null) return;
    const { scheduler, dice } = this.#world;
    const wait = Math.max(due - scheduler.now, dice.between(1, 5));
    this.#cancelAlarm = scheduler.afterOutside(wait, "alarm", () => this.#alarm());
  }

  #alarm(): void {
    this.#alarmSet = null;
    this.disk.alarm = null;
    this.#world.tally.count("alarms");
    const { life, keeper } = this.#wake("alarm");
    life.callers.add(again);
    const { disk } = this;
    const world = this.#world;
    const arm = (): void => this.#armAlarm();
    function again(): void {
      disk.alarm = Math.min(disk.alarm ?? Number.POSITIVE_INFINITY, world.scheduler.now + ALARM_AGAIN_MS);
      arm();
    }
    void inLife(life, async () => {
      try {
        await keeper.alarm();
      } catch (caught) {
        this.#unexpected(life, "alarm", caught);
      }
      life.callers.delete(again);
    });
  }

  /** An error that no fault of the simulator explains. */
  #unexpected(life: Life, where: string, caught: unknown): void {
    if (life.state !== "current" || isInjected(caught)) return;
    // What the client is told when a call that the session depends on does not come back.
    if (isLightAgentError(caught) && caught.code === "unavailable") return;
    this.#world.violate(
      "no-surprise",
      `${where}: ${caught instanceof Error ? caught.stack : String(caught)}`,
    );
  }
}
