import { exportJWK, generateKeyPair } from "jose";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { VirtualClock } from "@causeway/foundation";
import { startListener, type TestResponse, type TestListener } from "../../testing/https.ts";
import type { JwtIssuer } from "./configuration.ts";
import { issuerKeys } from "./provider.ts";

const LIMIT = 256 * 1024;
const DISCOVERY = "/.well-known/openid-configuration";
let listener: TestListener;
let keys: readonly object[];
let answers: Record<string, TestResponse>;
beforeAll(async () => {
  listener = await startListener();
  const { publicKey } = await generateKeyPair("RS256", { extractable: true });
  keys = [{ ...(await exportJWK(publicKey)), kid: "k", alg: "RS256", use: "sig" }];
});
afterAll(() => listener.close());
beforeEach(() => {
  listener.asked.length = 0;
  answers = {
    [DISCOVERY]: [200, JSON.stringify({ issuer: listener.url, jwks_uri: `${listener.url}/keys` })],
    "/keys": [200, JSON.stringify({ keys })],
  };
  listener.answer = ({ path }) => answers[path] ?? [404, ""];
});

const HEADER = { alg: "RS256", kid: "k" };
const TOKEN = { payload: "", signature: "" };

function opened(clock = new VirtualClock(), more: Partial<JwtIssuer> = {}) {
  const discoveryUrl = `${listener.url}${DISCOVERY}`;
  const issuer = { url: listener.url, discoveryUrl, certificateAuthority: listener.ca, ...more };
  return issuerKeys(issuer as unknown as JwtIssuer, clock);
}

const failure = async (work: unknown): Promise<string> => {
  try {
    await work;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return "";
};

const paths = (): string[] => listener.asked.map((a) => a.path);

describe("the keys of an issuer", () => {
  test("are found by discovery when the first token comes, and kept", async () => {
    const clock = new VirtualClock();
    const { find } = opened(clock);
    expect(paths()).toEqual([]);
    await find(HEADER, TOKEN);
    await find(HEADER, TOKEN);
    await clock.advance(10_000);
    await find(HEADER, TOKEN);
    expect(paths()).toEqual([DISCOVERY, "/keys"]);
  });

  test("are requested once by two tokens at a time", async () => {
    const { find } = opened();
    await Promise.all([find(HEADER, TOKEN), find(HEADER, TOKEN)]);
    expect(paths()).toEqual([DISCOVERY, "/keys"]);
  });

  test("are requested again by a token of an unknown key, at most once a second", async () => {
    const clock = new VirtualClock();
    const { find } = opened(clock);
    await find(HEADER, TOKEN);
    const unknown = { alg: "RS256", kid: "other" };
    expect(await failure(find(unknown, TOKEN))).toContain("no applicable key found");
    await clock.advance(999);
    await failure(find(unknown, TOKEN));
    expect(paths().length).toBe(2);
    await clock.advance(1);
    answers["/keys"] = [200, JSON.stringify({ keys: [...keys, { ...keys[0], kid: "other" }] })];
    await find(unknown, TOKEN);
    expect(paths().length).toBe(4);
  });

  test("are not believed when there are more than tokens can be compared with", async () => {
    const { find } = opened();
    const many = (count: number): TestResponse => [
      200,
      JSON.stringify({
        keys: Array.from({ length: count }, (_, at) => ({ ...keys[0], kid: at === 0 ? "k" : `k${at}` })),
      }),
    ];
    answers["/keys"] = many(257);
    expect(await failure(find(HEADER, TOKEN))).toContain("/keys returned 257 keys, and 256 at most are read");
    answers["/keys"] = many(256);
    const again = opened();
    expect(await failure(again.find(HEADER, TOKEN))).toBe("");
  });

  test("are requested at most once a second while the issuer fails", async () => {
    const clock = new VirtualClock();
    const { find } = opened(clock);
    answers[DISCOVERY] = [500, ""];
    expect(await failure(find(HEADER, TOKEN))).toBe(
      `oidc: issuer ${listener.url}: ${listener.url}${DISCOVERY} returned 500`,
    );
    expect(await failure(find(HEADER, TOKEN))).toBe("oidc: authenticator not initialized");
    expect(paths().length).toBe(1);
    await clock.advance(1000);
    answers[DISCOVERY] = [200, JSON.stringify({ issuer: listener.url, jwks_uri: `${listener.url}/keys` })];
    await find(HEADER, TOKEN);
  });

  test.each<[string, () => void, () => string]>([
    [
      "a document that is not JSON",
      () => (answers[DISCOVERY] = [200, "nothing"]),
      () => `${DISCOVERY} returned no JSON object`,
    ],
    [
      "a document that is a list",
      () => (answers[DISCOVERY] = [200, "[]"]),
      () => `${DISCOVERY} returned no JSON object`,
    ],
    ["a document that ends within", () => (answers[DISCOVERY] = [200, '{"issuer"', "cut"]), () => "aborted"],
    [
      "a document in another protocol",
      () => (answers[DISCOVERY] = [101, "", "switch"]),
      () => "its response switches protocols, which was not requested",
    ],
    [
      "a document after informational responses without end",
      () => (answers[DISCOVERY] = [200, "{}", "hints"]),
      () => "it has more than 5 informational responses",
    ],
    ["a document of another status", () => (answers[DISCOVERY] = [201, "{}"]), () => `${DISCOVERY} returned 201`],
    [
      "a document of another issuer",
      () => (answers[DISCOVERY] = [200, JSON.stringify({ issuer: "https://other", jwks_uri: `${listener.url}/keys` })]),
      () => "it did not match the issuer returned by provider",
    ],
    [
      "keys without TLS",
      () => (answers[DISCOVERY] = [200, JSON.stringify({ issuer: listener.url, jwks_uri: "http://127.0.0.1:1/keys" })]),
      () => "provider has no jwks_uri over https",
    ],
    [
      "no address of keys",
      () => (answers[DISCOVERY] = [200, JSON.stringify({ issuer: listener.url })]),
      () => "provider has no jwks_uri over https",
    ],
    ["no keys", () => (answers["/keys"] = [404, ""]), () => "/keys returned 404"],
    [
      "a document that is too long",
      () => (answers[DISCOVERY] = [200, " ".repeat(LIMIT + 1)]),
      () => `${DISCOVERY} returned more than ${LIMIT} bytes`,
    ],
  ])("are not read from %s", async (_what, arrange, why) => {
    arrange();
    expect(await failure(opened().find(HEADER, TOKEN))).toContain(why());
  });

  test("may be as long as the limit", async () => {
    const text = JSON.stringify({ keys });
    answers["/keys"] = [200, `${text}${" ".repeat(LIMIT - text.length)}`];
    await opened().find(HEADER, TOKEN);
  });

  test("are not requested from a server that the configuration does not trust", async () => {
    const { find } = opened(new VirtualClock(), { certificateAuthority: undefined });
    expect(await failure(find(HEADER, TOKEN))).toMatch(/^oidc: issuer .*: .*certificate/);
    expect(paths()).toEqual([]);
  });
});
