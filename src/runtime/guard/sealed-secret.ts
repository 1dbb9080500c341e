import { LightAgentError } from "../protocol/errors.ts";
import { sha256Hex } from "../protocol/sha256.ts";

const encoder = new TextEncoder();
const VERSION = "v1";
const IV_BYTES = 12;

/** What a sealed secret belongs to: it opens nowhere else. */
export interface SecretOwner {
  readonly tenant: string;
  readonly provider: string;
}

/**
 * Encrypts a secret with AES-256-GCM under a key derived from the deployment's `ENCRYPTION_KEY`.
 * @returns `v1.<key id>.<iv>.<ciphertext>`; owner and key id are authenticated with it
 */
export async function sealSecret(secret: string, owner: SecretOwner, encryptionKey: string): Promise<string> {
  const keyId = await keyIdOf(encryptionKey);
  const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES));
  const algorithm = { name: "AES-GCM", iv, additionalData: associatedData(owner, keyId) };
  const sealed = await crypto.subtle.encrypt(
    algorithm,
    await deriveKey(encryptionKey),
    encoder.encode(secret),
  );
  return [VERSION, keyId, toBase64Url(iv), toBase64Url(new Uint8Array(sealed))].join(".");
}

/**
 * Decrypts what `sealSecret` gave.
 * @throws LightAgentError `not_configured` when it was sealed under another key, for another owner, or was changed
 */
export async function openSecret(sealed: string, owner: SecretOwner, encryptionKey: string): Promise<string> {
  const [version, keyId = "", iv = "", text = ""] = sealed.split(".");
  if (version !== VERSION || keyId !== (await keyIdOf(encryptionKey))) {
    throw unreadable("was stored under another ENCRYPTION_KEY");
  }
  try {
    const additionalData = associatedData(owner, keyId);
    const algorithm = { name: "AES-GCM", iv: fromBase64Url(iv), additionalData };
    const key = await deriveKey(encryptionKey);
    return new TextDecoder().decode(await crypto.subtle.decrypt(algorithm, key, fromBase64Url(text)));
  } catch {
    throw unreadable("cannot be decrypted");
  }
}

/** Tells keys apart and nothing about them. */
async function keyIdOf(encryptionKey: string): Promise<string> {
  return (await sha256Hex(`light-agent key id\n${encryptionKey}`)).slice(0, 8);
}

async function deriveKey(encryptionKey: string): ReturnType<typeof crypto.subtle.deriveKey> {
  const raw = await crypto.subtle.importKey("raw", encoder.encode(encryptionKey), "HKDF", false, [
    "deriveKey",
  ]);
  const info = encoder.encode("light-agent model keys");
  const derivation = { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info };
  return crypto.subtle.deriveKey(derivation, raw, { name: "AES-GCM", length: 256 }, false, [
    "encrypt",
    "decrypt",
  ]);
}

function associatedData({ tenant, provider }: SecretOwner, keyId: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(encoder.encode(JSON.stringify([VERSION, keyId, tenant, provider])));
}

function toBase64Url(bytes: Uint8Array): string {
  const text = btoa(Array.from(bytes, (byte) => String.fromCodePoint(byte)).join(""));
  return text.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

function fromBase64Url(text: string): Uint8Array<ArrayBuffer> {
  const bytes = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(bytes, (character) => character.codePointAt(0) ?? 0);
}

function unreadable(why: string): LightAgentError {
  return new LightAgentError("not_configured", `The provider's stored key ${why}: store it again.`);
}
