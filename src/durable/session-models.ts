import { deployment } from "../deployment.ts";
import type { ModelEnvironment } from "../deployment.ts";
import { openSecret } from "../runtime/guard/sealed-secret.ts";
import { withCodecNamed } from "../runtime/model/codec/codec-directory.ts";
import type { ProviderKey } from "../runtime/model/model-directory.ts";
import type { ModelProvider } from "../runtime/model/model-provider.ts";
import { ModelHealth } from "../runtime/model/router/model-health.ts";
import { routeModels } from "../runtime/model/router/model-router.ts";
import type { ModelRoute } from "../runtime/model/router/model-router.ts";
import { routeOrder } from "../runtime/model/router/route-order.ts";
import { withOutput } from "../runtime/model/structured/output-provider.ts";
import { compileOutputSchema } from "../runtime/model/structured/output-schema.ts";
import type { OutputSchema } from "../runtime/model/structured/output-schema.ts";
import type { AgentDefinition, ModelRouteDefinition } from "../runtime/protocol/agent-definition.ts";
import { LightAgentError, isLightAgentError } from "../runtime/protocol/errors.ts";
import type { Limits } from "../runtime/protocol/limits.ts";
import type { SealedProvider, TurnLeave } from "./tenant-api.ts";

/** The settings of the environment that the models of a session need. */
export interface SessionModelEnvironment extends ModelEnvironment {
  readonly ENCRYPTION_KEY?: string;
}

export interface SessionModelsOptions {
  readonly tenant: string;
  readonly definition: AgentDefinition;
  readonly environment: SessionModelEnvironment;
  readonly limits: Limits;
  /** What the tenant said when the open turn began, for a session that was woken in it. */
  readonly leave: TurnLeave | undefined;
}

/** The models of one session: its agent's routes, codecs and output schema, the tenant's own keys, and what fails. */
export class SessionModels {
  readonly health: ModelHealth;
  readonly #options: SessionModelsOptions;
  #definition: AgentDefinition;
  #providers: readonly SealedProvider[];
  #output: OutputSchema | null = null;

  constructor(options: SessionModelsOptions) {
    this.#options = options;
    this.#definition = options.definition;
    this.health = new ModelHealth(options.limits, Date.now);
    this.#providers = options.leave?.providers ?? [];
    this.health.learn(options.leave?.resting ?? []);
  }

  /** A turn begins: what the tenant says holds for it. */
  learn({ providers, resting }: TurnLeave): void {
    this.#providers = providers;
    this.health.learn(resting);
  }

  /** The agent has another version. What is known of its models stays. */
  redefine(definition: AgentDefinition): void {
    this.#definition = definition;
    this.#output = null;
  }

  /** The model of a turn whose prompt asks for this one, by a route's name or a model's id. */
  provider(asked: string | undefined): ModelProvider {
    const { routes = [], model } = this.#definition;
    const byDefault = routes.length === 0 ? deployment.defaultModel(this.#options.environment) : undefined;
    const order = routeOrder<ModelRouteDefinition>(routes, asked ?? model ?? byDefault, ownRoute);
    return routeModels(
      order.map((route) => this.#route(route)),
      this.health,
    );
  }

  /**
   * Refuses what no turn could use. A provider whose key is missing is not refused here: it may be stored meanwhile.
   * @throws LightAgentError `invalid_request` for an id of no known form
   */
  check(asked: string): void {
    const { routes = [] } = this.#definition;
    if (routes.some(({ name }) => name === asked)) return;
    try {
      deployment.model(asked, this.#options.environment, (name) => this.#key(name));
    } catch (caught) {
      if (!isLightAgentError(caught) || caught.code !== "not_configured") throw caught;
    }
  }

  #route({ name, model, codec, windowTokens, afterContentFilter }: ModelRouteDefinition): ModelRoute {
    const { environment, limits } = this.#options;
    const definition = this.#definition;
    return {
      name,
      model,
      ...(windowTokens === undefined ? {} : { windowTokens }),
      ...(afterContentFilter === undefined ? {} : { afterContentFilter }),
      provider: () => {
        const bare = deployment.model(model, environment, (provider) => this.#key(provider));
        const codecName = codec ?? definition.codec ?? deployment.codecs[model] ?? "native";
        const calling = withCodecNamed(bare, codecName, { limits });
        if (!definition.output) return calling;
        this.#output ??= compileOutputSchema(definition.output.schema);
        return withOutput(calling, this.#output, { limits });
      },
    };
  }

  /** The tenant's own key, opened only when a call needs it. */
  #key(provider: string): ProviderKey | undefined {
    const stored = this.#providers.find(({ id }) => id === provider);
    if (!stored) return undefined;
    const { tenant, environment } = this.#options;
    const { baseUrl, dialect, compat, sealed } = stored;
    const apiKey = async (): Promise<string> => {
      const key = environment.ENCRYPTION_KEY;
      if (!key) throw new LightAgentError("not_configured", "The setting ENCRYPTION_KEY is missing.");
      return openSecret(sealed, { tenant, provider }, key);
    };
    return { baseUrl, dialect, compat, apiKey };
  }
}

/** A model that is no route of the agent's: its name is too long for a route's, which does not matter. */
function ownRoute(model: string): ModelRouteDefinition {
  return { name: model, model };
}
