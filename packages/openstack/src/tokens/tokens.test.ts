import { beforeEach, describe, expect, it } from "vitest";
import { CausewayError, silentLog, VirtualClock } from "@causeway/foundation";
import { Budget } from "../http/budget.ts";
import type { IdentityClient } from "../identity-client.ts";
import { createTokens } from "./tokens.ts";

const domain = { id: "default", name: "Default" };

/** A Keystone behind a budget of 20 requests a second; it knows the tokens of the test. */
class Keystone {
  readonly clock = new VirtualClock();
  readonly budget = new Budget(this.clock, { rate: 20, burst: 1, inFlight: 16 });
  readonly valid = new Set<string>();
  /** Status of the responses in place of 404. */
  refusal: number | undefined;
  calls = 0;
  #held: Promise<void> | undefined;

  /** Responses wait for this; the function ends that. */
  hold(until: Promise<void>): () => void {
    this.#held = until;
    return () => (this.#held = undefined);
  }

  readonly client: IdentityClient = {
    validate: async (token, call) => {
      const leave = await this.budget.enter("identity", call?.signal);
      await this.#held;
      call?.onSent?.();
      this.calls += 1;
      leave();
      const details = { status: this.refusal ?? 404 };
      if (this.refusal !== undefined) throw new CausewayError("OPENSTACK_BAD_REQUEST", "no", { details });
      if (!this.valid.has(token)) throw new CausewayError("OPENSTACK_NOT_FOUND", "no", { details });
      return {
        issued_at: new Date(this.clock.now()).toISOString(),
        expires_at: new Date(this.clock.now() + 3_600_000).toISOString(),
        methods: ["password"],
        user: { id: "u", name: "anna", domain },
      };
    },
    groups: () => Promise.resolve([]),
    stats: () => ({ total: this.calls, writes: 0, byRoute: {} }),
    close: () => {},
  };

  /** In steps in which what waits for the budget continues. */
  async pass(milliseconds: number): Promise<void> {
    for (let passed = 0; passed < milliseconds; passed += 50) await this.clock.advance(50);
  }

  tokens(more: { readonly soon?: number; readonly pace?: number } = {}) {
    const identify = () => Promise.resolve({ user: "anna" });
    return createTokens(this.client, { identify, clock: this.clock, log: silentLog, recheck: 60_000, ...more });
  }

  /** In the form of a Fernet token of now. */
  issue(n = 0): string {
    const head = Buffer.alloc(73, n);
    head[0] = 0x80;
    head.writeBigUInt64BE(BigInt(Math.floor(this.clock.now() / 1000)), 1);
    const token = head.toString("base64url");
    this.valid.add(token);
    return token;
  }
}

const garbage = (n: number): string => `garbage-of-a-client-${n}`;

describe("a flood of tokens that are none", () => {
  let keystone: Keystone;
  beforeEach(() => {
    keystone = new Keystone();
  });

  it.each([100, 1_000])("keeps no new login out: %d of them", async (many) => {
    const tokens = keystone.tokens();
    const flood = Array.from({ length: many }, (_, n) => tokens.verify(garbage(n)));
    await keystone.pass(100);
    const login = tokens.verify(keystone.issue());
    await keystone.pass(500);
    expect(await Promise.race([login, Promise.resolve("still waits")])).toMatchObject({ user: "anna" });
    await keystone.pass(10_000);
    const verdicts = await Promise.all(flood);
    expect(verdicts.every((verdict) => "refused" in verdict)).toBe(true);
    // They have their share all the same.
    expect(keystone.calls).toBeGreaterThan(20);
  });

  it("keeps no token out that was valid before", async () => {
    const tokens = keystone.tokens();
    const known = keystone.issue();
    await tokens.verify(known);
    await keystone.clock.advance(60_000);
    for (let n = 0; n < 499; n++) void tokens.verify(keystone.issue(n % 256).replace(/..$/, `${n}`));
    const before = keystone.calls;
    const again = tokens.verify(known);
    await keystone.pass(2_000);
    expect(await Promise.race([again, Promise.resolve("still waits")])).toMatchObject({ user: "anna" });
    expect(keystone.calls - before).toBeLessThan(45);
    await keystone.pass(20_000);
  });

  it("is refused with the reason that our own budget is used up, not that Keystone did not respond", async () => {
    const tokens = keystone.tokens();
    const flood = Array.from({ length: 400 }, (_, n) => tokens.verify(keystone.issue(n % 256) + n));
    await keystone.pass(10_000);
    const reasons = new Set((await Promise.all(flood)).map((verdict) => ("refused" in verdict ? verdict.refused : "")));
    expect([...reasons].some((reason) => reason.includes("the budget for requests to Keystone is used up"))).toBe(true);
    expect([...reasons].some((reason) => reason.includes("did not respond"))).toBe(false);
  });
});

describe("a revoked token", () => {
  const verdicts = async (keystone: Keystone, tokens: ReturnType<Keystone["tokens"]>, all: readonly string[]) => {
    const reviews = all.map((token) => tokens.verify(token));
    await keystone.pass(100);
    return (await Promise.all(reviews)).filter((verdict) => "user" in verdict).length;
  };

  it("is refused as soon as an early check finds it, and one check serves many requests", async () => {
    const keystone = new Keystone();
    const tokens = keystone.tokens({ soon: 5_000 });
    const token = keystone.issue();
    expect(await verdicts(keystone, tokens, [token])).toBe(1);
    keystone.valid.delete(token);
    expect(await verdicts(keystone, tokens, Array<string>(50).fill(token))).toBe(50);
    expect(keystone.calls).toBe(1);
    await keystone.pass(5_000);
    await verdicts(keystone, tokens, Array<string>(50).fill(token));
    expect(await verdicts(keystone, tokens, Array<string>(50).fill(token))).toBe(0);
    expect(keystone.calls).toBe(2);
  });

  it("is refused at the latest when its time is over, where there are more tokens than early checks", async () => {
    const keystone = new Keystone();
    const tokens = keystone.tokens({ soon: 5_000, pace: 2 });
    const issued = Array.from({ length: 10 }, (_, n) => keystone.issue(n));
    for (const each of issued) await verdicts(keystone, tokens, [each]);
    const before = keystone.calls;
    await keystone.pass(10_000);
    expect(await verdicts(keystone, tokens, issued)).toBe(10);
    expect(keystone.calls - before).toBe(2);
    keystone.valid.clear();
    await keystone.pass(60_000);
    const late = issued.map((token) => tokens.verify(token));
    await keystone.pass(2_000);
    expect((await Promise.all(late)).filter((verdict) => "user" in verdict)).toEqual([]);
  });

  it("does not wait for a Keystone that does not respond: what is known is used, and checked again later", async () => {
    const keystone = new Keystone();
    const tokens = keystone.tokens({ soon: 5_000 });
    const token = keystone.issue();
    await verdicts(keystone, tokens, [token]);
    await keystone.pass(5_000);
    const { promise, resolve } = Promise.withResolvers<void>();
    const held = keystone.hold(promise);
    const first = tokens.verify(token);
    // Others do not wait at all.
    expect(await tokens.verify(token)).toMatchObject({ user: "anna" });
    await keystone.pass(2_000);
    expect(await Promise.race([first, Promise.resolve("still waits")])).toMatchObject({ user: "anna" });
    held();
    resolve();
  });
});

describe("a token that is too long for what is in front of Keystone", () => {
  it.each([400, 413, 414, 431])("is refused, and not sent again for a while: status %d", async (status) => {
    const keystone = new Keystone();
    const tokens = keystone.tokens();
    keystone.refusal = status;
    const refused = { refused: `Keystone refuses a request with this token (status ${status})`, final: true };
    const token = keystone.issue();
    for (let i = 0; i < 5; i++) expect(await tokens.verify(token)).toEqual(refused);
    expect(keystone.calls).toBe(1);
  });

  it("remains valid for a while where Keystone had accepted it", async () => {
    const keystone = new Keystone();
    const tokens = keystone.tokens();
    const token = keystone.issue();
    await tokens.verify(token);
    keystone.refusal = 400;
    await keystone.clock.advance(60_000);
    expect(await tokens.verify(token)).toMatchObject({ user: "anna" });
  });
});
