import { createAuthority, VirtualClock, type ResolveAll } from "@causeway/foundation";
import { describe, expect, test } from "vitest";
import { startListener } from "../../testing/https.ts";
import type { JwtIssuer } from "./configuration.ts";
import { issuerKeys } from "./provider.ts";
import { reachOf } from "./reach.ts";

const ADDRESSES: Readonly<Record<string, readonly string[]>> = {
  "issuer.test": ["192.0.2.7"],
  "both.test": ["10.0.0.7", "192.0.2.7"],
  "inside.test": ["10.0.0.7"],
  "metadata.test": ["169.254.169.254"],
  "nothing.test": [],
};

const resolve: ResolveAll = (name, done) => {
  const found = ADDRESSES[name];
  if (!found) return done(new Error(`getaddrinfo ENOTFOUND ${name}`), []);
  return done(
    null,
    found.map((address) => ({ address, family: 4 })),
  );
};

const reach = reachOf(["192.0.2.0/24", "2001:db8::/64"], resolve);

describe("with networks of issuers", () => {
  test.for([
    ["https://192.0.2.7/keys", undefined],
    ["https://192.0.2.7:8443/keys", undefined],
    ["https://[2001:db8::7]/keys", undefined],
    ["https://issuer.test/keys", undefined],
    ["https://10.0.0.7/keys", "10.0.0.7 is in no allowed network, so it is not requested"],
    ["https://127.0.0.1/keys", "127.0.0.1 is a loopback address, so it is not requested"],
    ["https://0x7f.1/keys", "127.0.0.1 is a loopback address, so it is not requested"],
    ["https://[::ffff:10.0.0.7]/keys", "10.0.0.7 is in no allowed network, so it is not requested"],
    ["https://localhost/keys", '"localhost" is a name of this machine, so it is not requested'],
    ["https://192.0.2.7:0/keys", "port 0 is not between 1 and 65535, so it is not requested"],
  ] as const)("the URL %s: %s", ([url, why]) => {
    expect(reach.refusal(url)).toBe(why);
  });

  test.for([
    ["issuer.test", "192.0.2.7"],
    ["both.test", "192.0.2.7"],
    ["inside.test", "inside.test is not requested: it has no address in the permitted networks"],
    ["metadata.test", "metadata.test is not requested: it has no address in the permitted networks"],
    ["nothing.test", "nothing.test is not requested: it has no address in the permitted networks"],
    ["unknown.test", "getaddrinfo ENOTFOUND unknown.test"],
  ] as const)("the name %s leads to: %s", ([name, expected]) => {
    const seen: unknown[] = [];
    reach.lookup(name, { all: true }, (error, found) => seen.push(error?.message ?? found));
    reach.lookup(name, {}, (error, found, family) => seen.push(error?.message ?? [found, family]));
    const all = expected.startsWith("192") ? [{ address: expected, family: 4 }] : expected;
    expect(seen).toEqual([all, expected.startsWith("192") ? [expected, 4] : expected]);
  });

  test("eight addresses of a name are tried at most", () => {
    const addresses = Array.from({ length: 20 }, (_, at) => ({ address: `192.0.2.${at}`, family: 4 }));
    const many = reachOf(["192.0.2.0/24"], (_name, done) => done(null, addresses));
    many.lookup("many.test", { all: true }, (_error, found) => expect(found).toEqual(addresses.slice(0, 8)));
    expect.assertions(1);
  });

  test("what is no network is refused", () => {
    expect(() => reachOf(["192.0.2.0/24", "192.0.2"])).toThrow(
      "issuerNetworks[1]: 192.0.2 is not a network such as 192.0.2.0/24",
    );
  });

  test("an issuer is requested at the address that its name was checked with", async () => {
    const listener = await startListener();
    const url = listener.url.replace("127.0.0.1", "hook.test");
    listener.answer = () => [200, JSON.stringify({ issuer: url })];
    const issuer = { url, discoveryUrl: url, certificateAuthority: listener.ca } as unknown as JwtIssuer;
    const loopback = reachOf(["127.0.0.1/32"], (_name, done) => done(null, [{ address: "127.0.0.1", family: 4 }]));
    const { find } = issuerKeys(issuer, new VirtualClock(), loopback);
    await expect((async () => find({ alg: "RS256" }, { payload: "", signature: "" }))()).rejects.toThrow(
      "provider has no jwks_uri over https",
    );
    expect(listener.asked).toHaveLength(1);
    listener.close();
  });

  test.for([
    ["its discovery is outside", ["10.0.0.0/8"], 0],
    ["its keys are outside", ["127.0.0.1/32"], 1],
  ] as const)("an issuer is not believed when %s", async ([, networks, requests]) => {
    const listener = await startListener();
    const document = { issuer: listener.url, jwks_uri: "https://10.0.0.9/keys" };
    listener.answer = () => [200, JSON.stringify(document)];
    const { certificate } = await createAuthority({ commonName: "other", lifetime: 3600_000 });
    const issuer = {
      url: listener.url,
      discoveryUrl: `${listener.url}/discovery`,
      certificateAuthority: `${listener.ca}${certificate}`,
    } as unknown as JwtIssuer;
    const { find } = issuerKeys(issuer, new VirtualClock(), reachOf(networks));
    await expect((async () => find({ alg: "RS256" }, { payload: "", signature: "" }))()).rejects.toThrow(
      "so it is not requested",
    );
    expect(listener.asked).toHaveLength(requests);
    listener.close();
  });
});
