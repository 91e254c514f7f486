/**
 * The cases of Kubernetes' Ingress conformance (path rules, host rules, default backend, class, load balancing) with
 * packets. Where it wants 404 for a request that no rule matches, Octavia has 503; and an Ingress with TLS has no
 * listener at port 80, as upstream's has none.
 */
import { createAuthority, issueCertificate } from "@causeway/foundation";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { Ingress } from "../objects/ingress.ts";
import { Packets } from "../testing/packets.ts";
import { IngressWorld, to } from "../testing/world.ts";

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });
const UNMATCHED = "503";
let w: IngressWorld;
let packets: Packets;
const services = ["foo-exact", "foo-prefix", "aaa-bbb", "aaa", "slash-bbb", "slash-exact", "wildcard", "host", "echo"];

beforeAll(async () => {
  w = await IngressWorld.start({ dataPath: true });
  packets = new Packets(w);
  for (const [i, name] of services.entries()) await packets.serve(name, 30_101 + i);
  w.run();
});
afterAll(async () => {
  await w.close();
  packets.close();
});

const rule = (host: string, ...paths: ReturnType<typeof to>[]) => ({ host, http: { paths } });

describe("path rules of an Ingress", () => {
  let address: string;
  beforeAll(async () => {
    await w.ingress("paths", {
      rules: [
        rule("exact.example", to("foo-exact", "/foo", "Exact")),
        rule("prefix.example", to("foo-prefix", "/foo"), to("aaa-bbb", "/aaa/bbb"), to("aaa", "/aaa")),
        rule("mixed.example", to("foo-prefix", "/foo"), to("foo-exact", "/foo", "Exact")),
        rule("slash.example", to("slash-bbb", "/aaa/bbb/"), to("slash-exact", "/foo/", "Exact")),
      ],
    });
    address = await w.address("paths");
    await w.until("the rules", async () => {
      return (await packets.seen(address, { host: "slash.example", path: "/foo/" }).catch(() => "")) === "slash-exact";
    });
  });

  test.each([
    ["exact.example", "/foo", "foo-exact"],
    ["exact.example", "/foo/", UNMATCHED],
    ["exact.example", "/FOO", UNMATCHED],
    ["exact.example", "/bar", UNMATCHED],
    ["prefix.example", "/foo", "foo-prefix"],
    ["prefix.example", "/foo/", "foo-prefix"],
    ["prefix.example", "/FOO", UNMATCHED],
    ["prefix.example", "/aaa/bbb", "aaa-bbb"],
    ["prefix.example", "/aaa/bbb/ccc", "aaa-bbb"],
    ["prefix.example", "/aaa/ccc", "aaa"],
    ["prefix.example", "/aaaccc", UNMATCHED],
    ["mixed.example", "/foo", "foo-exact"],
    ["slash.example", "/aaa/bbb", "slash-bbb"],
    ["slash.example", "/aaa/bbb/", "slash-bbb"],
    ["slash.example", "/foo", UNMATCHED],
  ])("send the request %s%s to %s", async (host, path, wanted) => {
    expect(await packets.seen(address, { host, path })).toBe(wanted);
  });
});

describe("host rules of an Ingress", () => {
  let address: string;
  beforeAll(async () => {
    await w.ingress("hosts", { rules: [rule("*.foo.example", to("wildcard")), rule("foo.bar.example", to("host"))] });
    address = await w.address("hosts");
    await w.until("the rules", async () => {
      return (await packets.seen(address, { host: "foo.bar.example" }).catch(() => "")) === "host";
    });
  });

  test.each([
    ["foo.bar.example", "host"],
    ["FOO.bar.example", "host"],
    ["other.bar.example", UNMATCHED],
    ["bar.foo.example", "wildcard"],
    ["baz.bar.foo.example", UNMATCHED],
    ["foo.example", UNMATCHED],
  ])("send requests for %s to %s", async (host, wanted) => {
    expect(await packets.seen(address, { host })).toBe(wanted);
  });

  test("send TLS to the Service of the host, with the certificate of the Secret", async () => {
    const lifetime = 3_600_000;
    const authority = await createAuthority({ commonName: "ca", lifetime });
    const names = { commonName: "foo.bar.example", dnsNames: ["foo.bar.example"], usages: ["server" as const] };
    await w.secret("conformance", await issueCertificate(authority, { ...names, lifetime }));
    const tls = [{ hosts: ["foo.bar.example"], secretName: "conformance" }];
    await w.ingress("secure", { tls, rules: [rule("foo.bar.example", to("host"))] });
    const secure = await w.address("secure");
    const asking = { host: "foo.bar.example", ca: authority.certificate };
    await w.until("TLS", async () => (await packets.seen(secure, asking).catch(() => "")) === "host");
    await expect(packets.seen(secure, { host: "foo.bar.example" })).rejects.toThrow();
  });
});

describe("the default backend of an Ingress", () => {
  let address: string;
  beforeAll(async () => {
    await w.ingress("default", { defaultBackend: { service: { name: "echo", port: { number: 80 } } } });
    address = await w.address("default");
    await w.until("it", async () => (await packets.seen(address, { host: "my-host" }).catch(() => "")) === "echo");
  });

  test.each([
    ["GET", "my-host", "/"],
    ["GET", "my-host", "/sub-path"],
    ["POST", "some-host", "/"],
    ["PUT", "", "/resource"],
    ["DELETE", "some-host", "/resource"],
    ["PATCH", "my-host", "/resource"],
  ])("gets %s of host %s and path %s", async (method, host, path) => {
    expect(await packets.seen(address, { method, host, path })).toBe("echo");
  });
});

test("an Ingress of a class that does not exist gets no address", async () => {
  const spec = { ingressClassName: "some-invalid-class", rules: [rule("class.example", to("echo"))] };
  await w.ingress("classless", spec);
  await w.ingress("after", { defaultBackend: { service: { name: "echo", port: { number: 80 } } } });
  await w.address("after");
  const { status } = await w.client.get(Ingress, { namespace: "default", name: "classless" });
  expect(status?.loadBalancer?.ingress ?? []).toEqual([]);
});

test("requests of an Ingress are shared by all members of its Service", async () => {
  await packets.serve("spread", 30_150, { perNode: true });
  await w.ingress("spread", { defaultBackend: { service: { name: "spread", port: { number: 80 } } } });
  const address = await w.address("spread");
  const ask = (): Promise<string> => packets.seen(address, { host: "x" });
  await w.until("members", async () => (await ask().catch(() => "")).startsWith("spread"));
  const counts: Record<string, number> = {};
  for (let i = 0; i < 20; i += 1) {
    const name = await ask();
    counts[name] = (counts[name] ?? 0) + 1;
  }
  expect(counts).toEqual({ "spread 10.88.0.10": 10, "spread 10.88.0.11": 10 });
});
