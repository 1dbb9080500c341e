import type { Caller } from "../durable/session-api.ts";
import { deployment } from "../deployment.ts";
import { LightAgentError } from "../runtime/protocol/errors.ts";
import type { Principal } from "../runtime/protocol/principal.ts";
import { scopesOf } from "../runtime/protocol/role.ts";
import type { Role } from "../runtime/protocol/role.ts";
import type { Clock } from "../runtime/protocol/time.ts";
import type { Access } from "./access.ts";
import { looksLikeApiKey, parseApiKey } from "./api-key.ts";
import { secretsOf } from "./configuration.ts";
import { sha256Hex } from "../runtime/protocol/sha256.ts";
import { equalDigests } from "./digest.ts";
import type { Environment } from "./environment.ts";
import { ExpiringCache } from "./expiring-cache.ts";
import { tenantObject } from "./objects.ts";
import { verifyToken } from "./session-token.ts";

/** What the tenant's object said of a key. */
interface Standing {
  readonly tenant: string;
  readonly keyId: string;
  readonly role: Role;
}

const USER_ID = /^[\x21-\x7e]{1,128}$/;
const CACHED_KEYS = 10_000;
/** Guessed keys must not wake their tenant's object each time; a key made meanwhile has a secret never tried. */
const CACHED_REFUSALS = 1_000;
const REFUSAL_MS = 10_000;

/** Verifies credentials. One per isolate: it remembers for a while what the tenants' objects said of keys. */
export class Credentials {
  readonly #clock: Clock;
  readonly #standing: ExpiringCache<Standing>;
  readonly #refused: ExpiringCache<true>;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#standing = new ExpiringCache(clock, CACHED_KEYS);
    this.#refused = new ExpiringCache(clock, CACHED_REFUSALS);
  }

  /**
   * The access that the request's credential gives: the root key, an API key or a session token, in the header
   * `Authorization: Bearer` or, for a WebSocket, as the subprotocol `token.<credential>`.
   * @throws unauthorized; invalid_request for an unusable `x-user-id`
   */
  async authenticate(request: Request, environment: Environment): Promise<Access> {
    const credential = credentialOf(request);
    const secrets = secretsOf(environment);
    if (equalDigests(await sha256Hex(credential), await sha256Hex(secrets.ROOT_KEY))) return { kind: "root" };
    if (looksLikeApiKey(credential)) return this.#apiKey(credential, request, environment);
    return this.#token(credential, secrets.SIGNING_KEY, environment);
  }

  /** Forgets a key in this isolate, so that a revocation counts here at once. */
  forget(tenant: string, keyId: string): void {
    this.#standing.deleteWhere((known) => known.tenant === tenant && known.keyId === keyId);
  }

  /** An API key: its tenant stands in it, and that tenant's object knows its hash. */
  async #apiKey(credential: string, request: Request, environment: Environment): Promise<Access> {
    const parsed = await parseApiKey(credential);
    if (!parsed) throw unauthorized();
    const { tenant, id: keyId, hash } = parsed;
    const { role } = await this.#remembered(`${tenant}.${keyId}.${hash}`, tenant, keyId, () =>
      tenantObject(environment, tenant).verifyKey(keyId, hash),
    );
    const principal = endUser(request) ?? { kind: "key", id: keyId };
    return { kind: "key", role, caller: { tenant, principal, scopes: scopesOf(role), keyId } };
  }

  /** A session token: the signature says whose it is, the tenant's object whether the key behind it still stands. */
  async #token(credential: string, signingKey: string, environment: Environment): Promise<Access> {
    const claims = await verifyToken(credential, signingKey, this.#clock());
    if (!claims) throw unauthorized();
    const { tenant, session, key: keyId, scopes, sub, exp } = claims;
    await this.#remembered(`${tenant}.${keyId}`, tenant, keyId, () =>
      tenantObject(environment, tenant).keyStanding(keyId),
    );
    const principal: Principal = sub === undefined ? { kind: "key", id: keyId } : { kind: "user", id: sub };
    const caller: Caller = { tenant, principal, scopes, keyId, expiresAt: exp * 1_000 };
    return { kind: "token", session, caller };
  }

  /** What is known of a key, else what `ask` answers, remembered in either case. */
  async #remembered(
    entry: string,
    tenant: string,
    keyId: string,
    ask: () => ReturnType<ReturnType<typeof tenantObject>["keyStanding"]>,
  ): Promise<Standing> {
    const known = this.#standing.get(entry);
    if (known) return known;
    if (this.#refused.get(entry)) throw unauthorized();
    const answer = await ask();
    if (answer.ok) {
      const standing = { tenant, keyId, role: answer.value.role };
      this.#standing.set(entry, standing, deployment.limits.keyCacheMs);
      return standing;
    }
    // Whether the tenant or only the key is unknown stays inside.
    if (answer.error.code !== "unauthorized" && answer.error.code !== "not_found") {
      throw new LightAgentError("unavailable", "The credential cannot be verified for now.");
    }
    this.#refused.set(entry, true, REFUSAL_MS);
    throw unauthorized();
  }
}

/** The credential as text. @throws unauthorized when there is none */
function credentialOf(request: Request): string {
  const header = request.headers.get("authorization");
  if (header !== null) {
    const [, credential] = /^Bearer +(\S+)$/i.exec(header) ?? [];
    if (credential === undefined) throw unauthorized();
    return credential;
  }
  const token = subprotocolsOf(request).find((name) => name.startsWith("token."));
  if (token === undefined) throw unauthorized();
  return token.slice("token.".length);
}

/** The subprotocols that a WebSocket client offers; none for any other request. */
export function subprotocolsOf(request: Request): string[] {
  if (request.headers.get("upgrade")?.toLowerCase() !== "websocket") return [];
  const offered = request.headers.get("sec-websocket-protocol") ?? "";
  return offered.split(",").map((name) => name.trim());
}

/** The end user whom a back end names. */
function endUser(request: Request): Principal | undefined {
  const id = request.headers.get("x-user-id");
  if (id === null) return undefined;
  if (!USER_ID.test(id)) {
    throw new LightAgentError("invalid_request", "`x-user-id` is 1 to 128 visible ASCII characters.");
  }
  return { kind: "user", id };
}

function unauthorized(): LightAgentError {
  return new LightAgentError("unauthorized", "A valid credential is needed: `Authorization: Bearer <key>`.");
}
