import { describe, expect, it } from "vitest";
import { checkPublicUrl } from "../../../src/runtime/guard/public-url.ts";
import { openSecret, sealSecret } from "../../../src/runtime/guard/sealed-secret.ts";

const OWNER = { tenant: "acme", provider: "openai" };
const refused = expect.objectContaining({ code: "not_configured" });

describe("[TENANT-42] a sealed key", () => {
  it("[TENANT-42] opens for its owner under its key, and says nothing", async () => {
    const sealed = await sealSecret("sk-secret", OWNER, "key one");
    expect(sealed).toMatch(/^v1\.[0-9a-f]{8}\.[\w-]{16}\.[\w-]+$/);
    expect(sealed).not.toContain("secret");
    expect(await sealSecret("sk-secret", OWNER, "key one")).not.toBe(sealed);
    expect(await openSecret(sealed, OWNER, "key one")).toBe("sk-secret");
  });

  it("[TENANT-42] opens for no other tenant or provider, under no other key, and not when it was changed", async () => {
    const sealed = await sealSecret("sk-secret", OWNER, "key one");
    await expect(openSecret(sealed, { ...OWNER, tenant: "other" }, "key one")).rejects.toThrow(refused);
    await expect(openSecret(sealed, { ...OWNER, provider: "other" }, "key one")).rejects.toThrow(refused);
    await expect(openSecret(sealed, OWNER, "key two")).rejects.toThrow("another ENCRYPTION_KEY");
    const last = sealed.endsWith("A") ? "B" : "A";
    await expect(openSecret(sealed.slice(0, -3) + last + sealed.slice(-2), OWNER, "key one")).rejects.toThrow(
      refused,
    );
    await expect(openSecret("nonsense", OWNER, "key one")).rejects.toThrow(refused);
  });
});

describe("[TENANT-43] a base URL", () => {
  it.each([
    ["https://api.acme.dev/v1/", "https://api.acme.dev/v1"],
    ["https://API.Acme.dev", "https://api.acme.dev"],
    ["https://api.acme.dev:443/v1", "https://api.acme.dev/v1"],
  ])("[TENANT-43] %s is taken", (url, taken) => {
    expect(checkPublicUrl(url, "agents.example.com")).toBe(taken);
  });

  it.each([
    "http://api.acme.dev/v1",
    "ftp://api.acme.dev",
    "data:text/plain,x",
    "api.acme.dev/v1",
    "https://api.acme.dev:8443/v1",
    "https://user:pass@api.acme.dev/v1",
    "https://api.acme.dev/v1?key=1",
    "https://api.acme.dev/v1#x",
    "https://127.0.0.1/v1",
    "https://2130706433/v1",
    "https://0x7f.1/v1",
    "https://169.254.169.254/latest",
    "https://[::1]/v1",
    "https://[::ffff:10.0.0.1]/v1",
    "https://localhost/v1",
    "https://localhost./v1",
    "https://a.localhost/v1",
    "https://printer.local/v1",
    "https://metadata.google.internal/v1",
    "https://intranet/v1",
    "https://agents.example.org/v1",
    "https://sub.agents.example.org/v1",
  ])("[TENANT-43] %s is refused", (url) => {
    const refusal = expect.objectContaining({ code: "invalid_request" });
    expect(() => checkPublicUrl(url, "agents.example.org")).toThrow(refusal);
  });
});
