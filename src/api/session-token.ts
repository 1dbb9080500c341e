import { SignJWT, jwtVerify } from "jose";
import * as z from "zod";
import { idSchema } from "../runtime/protocol/ids.ts";
import { scopeSchema } from "../runtime/protocol/role.ts";

/** The longest life of a token, in seconds. */
export const TOKEN_SECONDS_MAX = 3_600;

const claimsSchema = z.object({
  tenant: idSchema,
  session: idSchema,
  /** The API key that issued it: when that is revoked, so is the token. */
  key: idSchema,
  scopes: z.array(scopeSchema),
  sub: z.string().optional(),
  exp: z.number(),
});

/** What a session token says. `exp` is in seconds since the epoch, `sub` the end user. */
export type TokenClaims = z.infer<typeof claimsSchema>;

const NAMES = { issuer: "light-agent", audience: "light-agent-session" } as const;
const ALGORITHM = "HS256";

/** The token's text. The claims are not encrypted: who holds the token can read them. */
export function signToken(claims: TokenClaims, signingKey: string): Promise<string> {
  const { sub, ...rest } = claims;
  const token = new SignJWT(rest)
    .setProtectedHeader({ alg: ALGORITHM })
    .setIssuer(NAMES.issuer)
    .setAudience(NAMES.audience);
  if (sub !== undefined) token.setSubject(sub);
  return token.sign(secretOf(signingKey));
}

/** The claims of a token that is ours and has not expired at `now` (ms since the epoch); null for any other text. */
export async function verifyToken(
  token: string,
  signingKey: string,
  now: number,
): Promise<TokenClaims | null> {
  try {
    const options = { ...NAMES, algorithms: [ALGORITHM], currentDate: new Date(now) };
    const { payload } = await jwtVerify(token, secretOf(signingKey), options);
    return claimsSchema.parse(payload);
  } catch {
    // Forged, malformed and expired alike: the caller learns that it is not good, not why.
    return null;
  }
}

function secretOf(signingKey: string): Uint8Array {
  return new TextEncoder().encode(signingKey);
}
