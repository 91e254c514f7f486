import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { VirtualClock, type Log } from "@causeway/foundation";
import type { Json } from "../json/json.ts";
import { startListener, type TestListener } from "../testing/https.ts";
import { webhookTokens, type WebhookTokens } from "./webhook-tokens.ts";

const JANE = { username: "jane" };
let listener: TestListener;
let dir: string;
let kubeconfigFile: string;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "webhook-tokens-"));
  listener = await startListener();
  kubeconfigFile = join(dir, "kubeconfig");
  const authority = Buffer.from(listener.ca).toString("base64");
  const config = {
    clusters: [{ name: "c", cluster: { server: listener.url, "certificate-authority-data": authority } }],
    contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    users: [{ name: "u", user: {} }],
    "current-context": "x",
  };
  writeFileSync(kubeconfigFile, JSON.stringify(config));
});
afterAll(() => {
  listener.close();
  rmSync(dir, { recursive: true, force: true });
});
beforeEach(() => {
  listener.asked.length = 0;
  answer({ authenticated: true, user: JANE });
});

function answer(status: Json): void {
  listener.answer = () => [200, JSON.stringify({ status })];
}

interface Opened {
  readonly tokens: WebhookTokens;
  readonly clock: VirtualClock;
  readonly warned: Json[];
}

async function opened(work: (opened: Opened) => Promise<void>, cacheTtl?: number): Promise<void> {
  const clock = new VirtualClock();
  const warned: Json[] = [];
  const log = { warn: (message: string, fields: Json) => void warned.push({ message, ...fields }) } as unknown as Log;
  const options = { kubeconfigFile, ...(cacheTtl === undefined ? {} : { cacheTtl }) };
  const tokens = webhookTokens(options, { clock, log });
  try {
    await work({ tokens, clock, warned });
  } finally {
    tokens.close();
  }
}

/** What comes of it while time passes, and how much time that took. */
async function settled(clock: VirtualClock, work: Promise<unknown>): Promise<{ result: unknown; took: number }> {
  const start = clock.now();
  let isOver = false;
  const result = work.then(
    (value) => value,
    (error: unknown) => error,
  );
  void result.finally(() => (isOver = true));
  while (!isOver) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    if (!isOver) await clock.advance(50);
  }
  return { result: await result, took: clock.now() - start };
}

describe("an answer of a token webhook", () => {
  test.each<[Json, Json | undefined]>([
    [
      { authenticated: true, user: JANE },
      { user: { name: "jane", groups: ["system:authenticated"] }, audiences: ["a", "b"] },
    ],
    [
      { authenticated: true, user: { ...JANE, uid: "1", groups: ["dev"], extra: { x: ["y", "z"] } } },
      {
        user: { name: "jane", uid: "1", groups: ["dev", "system:authenticated"], extra: { x: ["y", "z"] } },
        audiences: ["a", "b"],
      },
    ],
    [
      { authenticated: true, user: { ...JANE, uid: "", extra: {} } },
      { user: { name: "jane", groups: ["system:authenticated"] }, audiences: ["a", "b"] },
    ],
    [
      { authenticated: true, user: JANE, audiences: ["b", "c"] },
      { user: { name: "jane", groups: ["system:authenticated"] }, audiences: ["b"] },
    ],
    [{ authenticated: true, user: JANE, audiences: ["c"] }, undefined],
    [{ authenticated: true, user: {} }, undefined],
    [{ authenticated: true }, undefined],
    [{ authenticated: false, user: JANE }, undefined],
    [{ user: JANE }, undefined],
    [{ authenticated: "true", user: JANE }, undefined],
  ])("%j represents %j", async (status, expected) => {
    answer(status);
    await opened(async ({ tokens }) => {
      expect(await tokens.verify("t", ["a", "b"])).toEqual(expected);
      const spec = { token: "t", audiences: ["a", "b"] };
      const review = { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec };
      expect(listener.asked.map((a): unknown => JSON.parse(a.body))).toEqual([review]);
    });
  });

  test("without a status represents no user", async () => {
    listener.answer = () => [200, "{}"];
    await opened(async ({ tokens }) => expect(await tokens.verify("t", ["a"])).toBeUndefined());
  });

  test.each([
    [undefined, 120_000],
    [5000, 5000],
  ])("holds for the time given (%j)", async (ttl, milliseconds) => {
    await opened(async ({ tokens, clock }) => {
      await tokens.verify("t", ["a"]);
      await clock.advance(milliseconds - 1);
      await tokens.verify("t", ["a"]);
      expect(listener.asked.length).toBe(1);
      await clock.advance(1);
      await tokens.verify("t", ["a"]);
      expect(listener.asked.length).toBe(2);
    }, ttl);
  });

  test("is waited for no longer than a minute in all", async () => {
    await opened(async ({ tokens, clock, warned }) => {
      listener.answer = () => (listener.asked.length > 1 ? undefined : [500, ""]);
      const result = tokens.verify("t", ["a"]).catch((error: unknown) => error);
      while (listener.asked.length === 0) await new Promise((resolve) => setImmediate(resolve));
      await clock.advance(59_400);
      while (warned.length === 0) await new Promise((resolve) => setImmediate(resolve));
      // The second attempt has the tenth of a second that is left.
      await clock.advance(500);
      expect(await result).toMatchObject({ code: "WEBHOOK_FAILED" });
      expect(listener.asked.length).toBe(2);
    });
  });

  test("holds for one token and these audiences", async () => {
    await opened(async ({ tokens }) => {
      for (const [token, audience] of [
        ["t", "a"],
        ["t", "b"],
        ["u", "a"],
        ["t", "a"],
      ] as const) {
        await tokens.verify(token, [audience]);
      }
      expect(listener.asked.length).toBe(3);
    });
  });

  test("is requested once by two requests at a time", async () => {
    await opened(async ({ tokens }) => {
      await Promise.all([tokens.verify("t", ["a"]), tokens.verify("t", ["a"])]);
      expect(listener.asked.length).toBe(1);
    });
  });
});

describe("a token webhook that fails", () => {
  test("is called five times, each time after a longer wait, and its failure is not kept", async () => {
    let left = 5;
    listener.answer = () => {
      left -= 1;
      return left >= 0 ? [500, ""] : [200, JSON.stringify({ status: { authenticated: true, user: JANE } })];
    };
    await opened(async ({ tokens, clock, warned }) => {
      const { result, took } = await settled(clock, tokens.verify("t", ["a"]));
      expect(result).toMatchObject({ code: "WEBHOOK_FAILED" });
      expect(listener.asked.length).toBe(5);
      expect(took).toBeGreaterThanOrEqual(500 + 750 + 1125 + 1687.5);
      expect(took).toBeLessThan(5000);
      const reason = expect.stringContaining("it returned 500") as unknown;
      expect(warned).toEqual([1, 2, 3, 4].map((attempt) => ({ message: "the token webhook failed", reason, attempt })));
      expect(await tokens.verify("t", ["a"])).toMatchObject({ user: { name: "jane" } });
    });
  });

  test("is believed once it answers", async () => {
    let left = 2;
    const good = JSON.stringify({ status: { authenticated: true, user: JANE } });
    listener.answer = () => (left-- > 0 ? [500, ""] : [200, good]);
    await opened(async ({ tokens, clock }) => {
      const { result, took } = await settled(clock, tokens.verify("t", ["a"]));
      expect(result).toMatchObject({ user: { name: "jane" } });
      expect(took).toBeGreaterThanOrEqual(1250);
    });
  });

  test("is not called again after a minute", async () => {
    const clock = new VirtualClock();
    listener.answer = () => {
      void clock.advance(59_500);
      return [500, ""];
    };
    const tokens = webhookTokens({ kubeconfigFile }, { clock, log: { warn: () => {} } as unknown as Log });
    await expect(tokens.verify("t", ["a"])).rejects.toMatchObject({ code: "WEBHOOK_FAILED" });
    expect(listener.asked.length).toBe(1);
    tokens.close();
  });

  test("is not called again once the server closes", async () => {
    listener.answer = () => undefined;
    const clock = new VirtualClock();
    const tokens = webhookTokens({ kubeconfigFile }, { clock, log: { warn: () => {} } as unknown as Log });
    const result = tokens.verify("t", ["a"]).catch((error: unknown) => error);
    await expect.poll(() => listener.asked.length).toBe(1);
    tokens.close();
    expect(await result).toMatchObject({ code: "WEBHOOK_FAILED" });
    expect(listener.asked.length).toBe(1);
  });
});
