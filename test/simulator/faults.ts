import type { Dice } from "./dice.ts";

/** Something that the simulator made fail: a write, a call, the network. What follows from it is no surprise. */
export class InjectedFault extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "InjectedFault";
  }
}

/** Whether an error, or what caused it, was made by the simulator. */
export function isInjected(caught: unknown): boolean {
  for (let error = caught; error instanceof Error; error = error.cause) {
    if (error instanceof InjectedFault) return true;
  }
  return false;
}

/** How often what goes wrong, as probabilities. */
export interface Weather {
  /** For each write: the instance dies before it, after it, or the write fails. */
  readonly dieBeforeWrite: number;
  readonly dieAfterWrite: number;
  readonly fullDisk: number;
  /** For each task: the instance dies, is put out of memory with its sockets kept, or is replaced while it runs on. */
  readonly crash: number;
  readonly evict: number;
  readonly replace: number;
  /** For each call of another object, each request, each socket. */
  readonly callFails: number;
  /** A call whose answer never comes, nor does its failure. */
  readonly callHangs: number;
  readonly answerLost: number;
  readonly repeated: number;
  readonly cut: number;
}

export const CALM: Weather = {
  dieBeforeWrite: 0,
  dieAfterWrite: 0,
  fullDisk: 0,
  crash: 0,
  evict: 0,
  replace: 0,
  callFails: 0,
  callHangs: 0,
  answerLost: 0,
  repeated: 0,
  cut: 0,
};

/** The weather of one world: calm, one kind of fault often, or all of them now and then. */
export function forecast(dice: Dice): Weather {
  const network = { callFails: 0.1, callHangs: 0.01, answerLost: 0.05, repeated: 0.1, cut: 0.1 };
  switch (
    dice.weighted({
      calm: 2,
      network: 2,
      silent: 2,
      writes: 3,
      full: 4,
      crashes: 3,
      evictions: 2,
      replaced: 2,
      all: 4,
    })
  ) {
    case "calm":
      return CALM;
    case "network":
      return { ...CALM, ...network };
    case "silent":
      return { ...CALM, callFails: 0.3, callHangs: 0.1 };
    case "writes":
      return { ...CALM, dieBeforeWrite: 0.03, dieAfterWrite: 0.03, answerLost: 0.05 };
    case "full":
      return { ...CALM, fullDisk: 0.08 };
    case "crashes":
      return { ...CALM, crash: 0.02, cut: 0.05 };
    case "evictions":
      return { ...CALM, evict: 0.02 };
    case "replaced":
      return { ...CALM, replace: 0.015 };
    case "all": {
      const writes = { dieBeforeWrite: 0.01, dieAfterWrite: 0.01, fullDisk: 0.01 };
      return { ...writes, crash: 0.005, evict: 0.003, replace: 0.004, ...network };
    }
  }
}
