import { LightAgentError } from "../../protocol/errors.ts";
import type { ModelError } from "../model-error.ts";
import type { ModelProvider } from "../model-provider.ts";
import { streamOf } from "../stream-of.ts";
import { isUnhealthy } from "./model-health.ts";
import type { ModelHealth } from "./model-health.ts";

/** One of the models that may serve a call. */
export interface ModelRoute {
  /** Unique among the routes: what a prompt names it by. */
  readonly name: string;
  /** May throw: then the route is left out, or the call fails with it when it is the only one. */
  readonly provider: () => ModelProvider;
  /** `<provider>/<model>`: what its health is known by. */
  readonly model: string;
  /** Its context window in tokens: a request that overflows another's goes on only to a larger one. */
  readonly windowTokens?: number;
  /** Whether it may take over what another model's content filter withheld. @default false */
  readonly afterContentFilter?: boolean;
}

/**
 * Several models as one: the first route in order that is not resting. When a call fails for a reason that another
 * model may not share (transport, time, 429, 5xx; overflow where its window is larger; a content filter where the route
 * says so) the next route takes the next try; an abort, a refused request, key or quota is nobody else's chance. The
 * caller makes the tries, so that there is one retry layer, and withdraws what was shown.
 * @throws LightAgentError `invalid_request` for no route or a name that comes twice, or what the last provider throws
 */
export function routeModels(routes: readonly ModelRoute[], health: ModelHealth): ModelProvider {
  if (routes.length === 0) throw new LightAgentError("invalid_request", "A model router needs a route.");
  if (new Set(routes.map(({ name }) => name)).size < routes.length) {
    throw new LightAgentError("invalid_request", "Two routes of a model router have one name.");
  }
  // A model that rests is still better than none.
  const rested = routes.filter(({ model }) => !health.isResting(model));
  const order = [...rested, ...routes.filter((route) => !rested.includes(route))];
  return new Router(order, health).first();
}

class Router {
  readonly #order: readonly ModelRoute[];
  readonly #health: ModelHealth;

  constructor(order: readonly ModelRoute[], health: ModelHealth) {
    this.#order = order;
    this.#health = health;
  }

  first(): ModelProvider {
    return this.#open(0);
  }

  /** The first route from here on that has a provider. */
  #open(from: number): ModelProvider {
    for (let at = from; ; at++) {
      const route = this.#order[at];
      if (!route) throw new LightAgentError("not_configured", "No model of the router is configured.");
      try {
        return this.#serve(route.provider(), at);
      } catch (caught) {
        if (at + 1 >= this.#order.length) throw caught;
      }
    }
  }

  #serve(provider: ModelProvider, at: number): ModelProvider {
    const route = this.#order[at];
    return {
      id: provider.id,
      stream: (request, signal) => streamOf(provider, request, signal),
      route: {
        settled: (outcome) => this.#health.settled(route?.model ?? provider.id, outcome),
        next: (error) => this.#after(error, at),
      },
    };
  }

  #after(error: ModelError, at: number): ModelProvider | null {
    const failed = this.#order[at];
    const next = this.#order.findIndex((route, index) => index > at && mayTakeOver(route, failed, error));
    if (next === -1) return null;
    try {
      return this.#open(next);
    } catch {
      return null;
    }
  }
}

function mayTakeOver(route: ModelRoute, failed: ModelRoute | undefined, error: ModelError): boolean {
  if (error.modelCode === "content_filter") return route.afterContentFilter === true;
  if (error.modelCode === "context_overflow") {
    return (route.windowTokens ?? 0) > (failed?.windowTokens ?? Number.POSITIVE_INFINITY);
  }
  return isUnhealthy(error);
}
