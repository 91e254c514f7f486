import { beforeEach, describe, expect, it } from "vitest";
import { CausewayError, createLog, createMetrics, VirtualClock, type Log } from "@causeway/foundation";
import type { Identity, IdentityClient } from "@causeway/openstack";
import { createTokens, type TokenOptions, type Tokens } from "./tokens.ts";

/** Issued when the clock begins. */
const TOKEN = "gAAAAABpVbkAsecret-token-of-anna-0123456789";
const domain = { id: "default", name: "Default" };

/** A Keystone of which the test says how it responds. */
class Keystone {
  readonly clock = new VirtualClock();
  readonly lines: string[] = [];
  calls = 0;
  failure: CausewayError | undefined;
  held: PromiseWithResolvers<void> | undefined;
  lifetime = 3_600_000;

  readonly client: IdentityClient = {
    validate: async (token, call) => {
      this.calls += 1;
      call?.onSent?.();
      if (this.held) await Promise.race([this.held.promise, aborted(call?.signal)]);
      if (this.failure) throw this.failure;
      return this.facts(token);
    },
    groups: () => Promise.resolve([{ id: "g", name: "ops", description: "", domain_id: "default" }]),
    stats: () => ({ total: this.calls, writes: 0, byRoute: {} }),
    close: () => {},
  };

  facts(token: string): Identity.TokenFacts {
    return {
      issued_at: new Date(this.clock.now()).toISOString(),
      expires_at: new Date(this.clock.now() + this.lifetime).toISOString(),
      methods: ["password"],
      user: { id: token.slice(-4), name: "anna", domain },
      project: { id: "p1", name: "shop", domain },
      roles: [{ id: "r", name: "member" }],
    };
  }

  tokens(options: Partial<TokenOptions> = {}): Tokens {
    return createTokens(this.client, { clock: this.clock, log: this.log(), ...options });
  }

  log(): Log {
    return createLog({ level: "debug", destination: { write: (line) => this.lines.push(line) } });
  }
}

function aborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason), { once: true }));
}

const unreachable = new CausewayError("OPENSTACK_UNREACHABLE", `no connection; ${TOKEN}`);
const unauthorized = new CausewayError("OPENSTACK_UNAUTHORIZED", "GET identity /v3/auth/tokens responded 401");

describe("the cache of reviewed tokens", () => {
  let keystone: Keystone;
  beforeEach(() => {
    keystone = new Keystone();
  });

  it("sends one request to Keystone for many reviews of one token at once", async () => {
    const tokens = keystone.tokens();
    const verdicts = await Promise.all(Array.from({ length: 100 }, () => tokens.verify(TOKEN)));
    expect(verdicts.every((v) => "user" in v)).toBe(true);
    expect(keystone.calls).toBe(1);
  });

  it("asks again after the time for a recheck, and refuses what was revoked", async () => {
    const tokens = keystone.tokens({ recheck: 60_000 });
    await tokens.verify(TOKEN);
    await keystone.clock.advance(59_000);
    expect(await tokens.verify(TOKEN)).toHaveProperty("user");
    expect(keystone.calls).toBe(1);
    keystone.failure = unauthorized;
    await keystone.clock.advance(2_000);
    expect(await tokens.verify(TOKEN)).toEqual({ refused: expect.stringContaining("revoked"), final: true });
    expect(keystone.calls).toBe(2);
  });

  it("never uses a token beyond its expiry, whatever the time for a recheck", async () => {
    keystone.lifetime = 30_000;
    const tokens = keystone.tokens({ recheck: 3_600_000 });
    await tokens.verify(TOKEN);
    keystone.failure = unauthorized;
    await keystone.clock.advance(30_000);
    expect(await tokens.verify(TOKEN)).toHaveProperty("refused");
  });

  it("refuses a token that Keystone responds with although it has expired", async () => {
    keystone.lifetime = -1;
    expect(await keystone.tokens().verify(TOKEN)).toEqual({ refused: "the token has expired", final: true });
  });

  it("keeps cached tokens valid for the configured time while Keystone is away, and denies new ones with the reason", async () => {
    const tokens = keystone.tokens({ recheck: 60_000, outage: 600_000 });
    await tokens.verify(TOKEN);
    keystone.failure = unreachable;
    await keystone.clock.advance(599_000);
    expect(await tokens.verify(TOKEN)).toHaveProperty("user");
    expect(await tokens.verify(`${TOKEN}-another`)).toEqual({
      refused: "Keystone cannot be queried about this token now: it is unreachable",
      final: false,
    });
    await keystone.clock.advance(2_000);
    expect(await tokens.verify(TOKEN)).toHaveProperty("refused");
  });

  it("remembers a refusal for a short time, so that a client that repeats a bad token costs one request", async () => {
    keystone.failure = unauthorized;
    const tokens = keystone.tokens({ refusal: 10_000 });
    for (let i = 0; i < 50; i++) expect(await tokens.verify(TOKEN)).toHaveProperty("refused");
    expect(keystone.calls).toBe(1);
    keystone.failure = undefined;
    await keystone.clock.advance(10_000);
    expect(await tokens.verify(TOKEN)).toHaveProperty("user");
  });

  it("does not remember a failure of Keystone as a refusal", async () => {
    keystone.failure = unreachable;
    const tokens = keystone.tokens();
    await tokens.verify(TOKEN);
    keystone.failure = undefined;
    expect(await tokens.verify(TOKEN)).toHaveProperty("user");
  });

  it("denies further tokens while too many wait for Keystone", async () => {
    keystone.held = Promise.withResolvers();
    const tokens = keystone.tokens({ waiting: 2 });
    const waiting = [tokens.verify(`${TOKEN}-1`), tokens.verify(`${TOKEN}-2`)];
    expect(await tokens.verify(`${TOKEN}-3`)).toEqual({
      refused: "too many tokens wait for Keystone now",
      final: false,
    });
    keystone.held.resolve();
    expect((await Promise.all(waiting)).every((v) => "user" in v)).toBe(true);
  });

  it("gives up on a Keystone that does not respond, and says so", async () => {
    keystone.held = Promise.withResolvers();
    const verdict = keystone.tokens({ timeout: 5_000 }).verify(TOKEN);
    await keystone.clock.advance(5_000);
    expect(await verdict).toEqual({ refused: expect.stringContaining("within 5 s"), final: false });
  });

  it("remembers a bounded number of tokens, those that were used last", async () => {
    const tokens = keystone.tokens({ entries: 3 });
    for (const n of [1, 2, 3]) await tokens.verify(`${TOKEN}-${n}`);
    await tokens.verify(`${TOKEN}-1`);
    await tokens.verify(`${TOKEN}-4`);
    expect(tokens.size).toBe(3);
    const before = keystone.calls;
    await tokens.verify(`${TOKEN}-1`);
    expect(keystone.calls).toBe(before);
    await tokens.verify(`${TOKEN}-2`);
    expect(keystone.calls).toBe(before + 1);
  });

  it("sends no text to Keystone that cannot be its token", async () => {
    const tokens = keystone.tokens();
    expect(await tokens.verify("garbage")).toHaveProperty("refused");
    expect(keystone.calls).toBe(0);
  });

  it("writes no token to the log and none to its metrics, in whatever way Keystone fails", async () => {
    const metrics = createMetrics();
    const tokens = keystone.tokens({ metrics, refusal: 0 });
    for (const failure of [undefined, unauthorized, unreachable, new CausewayError("OPENSTACK_FORBIDDEN", "no")]) {
      keystone.failure = failure;
      await tokens.verify(TOKEN);
      await keystone.clock.advance(61_000);
    }
    expect(keystone.lines.length).toBeGreaterThan(2);
    expect(keystone.lines.join("")).not.toContain("secret-token-of-anna");
    expect(await metrics.render()).not.toContain("secret-token-of-anna");
  });
});
