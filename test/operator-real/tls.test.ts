/** Keystone, Glance and Placement as real processes that serve TLS, and certificates that are renewed under load. */
import { X509Certificate } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/processes.ts";
import { adminToken, deployment, podsOf, request, restarts, serviceAddress, statusOf, type Trust } from "./cloud.ts";
import { record } from "./figures.ts";
import { TIMEOUT, startRig, volumes, type Rig } from "./rig.ts";
import { underLoad } from "./under-load.ts";
import { seconds, whenReady } from "./whole-cloud.ts";

const APIS = { "keystone-api": 5000, "glance-api": 9292, "placement-api": 8778 } as const;
type Api = keyof typeof APIS;
const NAMES = { "keystone-api": "identity", "glance-api": "image", "placement-api": "placement" } as const;

describe("APIs of real processes with TLS", () => {
  let rig: Rig;
  let token = "";
  const authorities = () => join(rig.dir, "authorities.pem");
  const trustOf = (api: Api): Trust => ({ address: serviceAddress(rig, api), file: authorities() });
  const inside = (api: Api) => `https://cloud-${api}.default.svc:${APIS[api]}`;
  const ask = (api: Api, method: string, path: string, body?: unknown) =>
    request(rig, method, `${inside(api)}${path}`, {
      token,
      trust: trustOf(api),
      ...(body === undefined ? {} : { body }),
    });
  const secretText = (name: string, key: string) =>
    Buffer.from(rig.get<{ data: Record<string, string> }>("secret", name).data[key] ?? "", "base64").toString();
  const serial = (api: Api) => new X509Certificate(secretText(`cloud-${api}-certificates`, "tls.crt")).serialNumber;
  /** Serial number of what the API serves now. */
  const served = async (api: Api) => {
    const { address, file } = trustOf(api);
    const port = String(APIS[api]);
    const args = ["-s", "-o", "/dev/null", "-w", "%{certs}", "--cacert", file, "--connect-to", `::${address}:${port}`];
    const text = await rig.inNetwork("curl", ...args, `${inside(api)}/`);
    return new X509Certificate(text.slice(text.indexOf("-----BEGIN"))).serialNumber;
  };

  beforeAll(async () => {
    rig = await startRig();
  });

  afterAll(async () => {
    await rig?.close();
  });

  test("serve both of their names, and no client that does not trust the authority, nor plain HTTP", async () => {
    const began = Date.now();
    rig.apply(volumes());
    rig.apply(deployment(["glance", "placement"], { tls: { from: "Own" } }));
    await whenReady(rig);
    record("Keystone, Glance and Placement with TLS, from nothing", { seconds: seconds(Date.now() - began) });
    writeFileSync(authorities(), secretText("cloud-authority", "tls.crt"));
    token = await adminToken(rig, { url: inside("keystone-api"), trust: trustOf("keystone-api") });
    for (const api of Object.keys(APIS) as Api[]) {
      const trust = trustOf(api);
      const publicUrl = `https://${NAMES[api]}.cloud.example.org:${APIS[api]}/`;
      expect((await request(rig, "GET", publicUrl, { trust })).status, publicUrl).toBeLessThan(400);
      const wrong = request(rig, "GET", `https://other.cloud.example.org:${APIS[api]}/`, { trust });
      await expect(wrong, "another name").rejects.toThrow();
      await expect(request(rig, "GET", `https://${trust.address}:${APIS[api]}/`), "no trust").rejects.toThrow();
      const plain = await request(rig, "GET", `http://${trust.address}:${APIS[api]}/`).catch(() => ({ status: 0 }));
      expect(plain.status < 200 || plain.status >= 400, "plain HTTP").toBe(true);
    }
    expect(Object.values(restarts(rig)).filter((count) => count > 0)).toEqual([]);
  });

  test("name https endpoints in the catalogue, and check tokens over TLS: an image keeps its content", async () => {
    const { body } = await ask("keystone-api", "GET", "/v3/auth/catalog");
    const { catalog } = JSON.parse(body) as { catalog: { endpoints: { url: string }[] }[] };
    const urls = catalog.flatMap(({ endpoints }) => endpoints.map(({ url }) => url));
    expect(urls.length).toBe(9);
    expect(urls.filter((url) => !url.startsWith("https://"))).toEqual([]);
    const image = { name: "one", disk_format: "raw", container_format: "bare" };
    const made = await ask("glance-api", "POST", "/v2/images", image);
    expect(made.status, made.body).toBe(201);
    const { id } = JSON.parse(made.body) as { id: string };
    // More than any buffer, in chunks of a length that is not known before.
    const { address, file } = trustOf("glance-api");
    const to = ["--cacert", file, "--connect-to", `::${address}:`, "-H", `X-Auth-Token: ${token}`];
    const url = `${inside("glance-api")}/v2/images/${id}/file`;
    const upload = ["curl", "-sf", "-X", "PUT", "-T", "-", "-H", "Content-Type: application/octet-stream", ...to, url];
    const quoted = (words: readonly string[]) => words.map((word) => `'${word}'`).join(" ");
    const digest = (text: string) => text.trim().split(" ")[0];
    const sent = `head -c 20000000 /dev/urandom > ${rig.dir}/image && ${quoted(upload)} < ${rig.dir}/image && sha512sum ${rig.dir}/image`;
    const before = digest(await rig.inNetwork("sh", "-c", sent));
    const after = digest(await rig.inNetwork("sh", "-c", `${quoted(["curl", "-sf", ...to, url])} | sha512sum`));
    expect(after).toBe(before);
    expect(before).toMatch(/^[0-9a-f]{128}$/);
  });

  test("are served with renewed certificates without a failed request", async () => {
    const apis = Object.keys(APIS) as Api[];
    const [before, pods] = [apis.map(serial), apis.map((api) => podsOf(rig, api))];
    const rotate = async () => {
      // They are as old as their Secrets say: they are due.
      for (const api of apis)
        rig.kubectl(
          "annotate",
          "secret",
          `cloud-${api}-certificates`,
          "--overwrite",
          "openstack.causeway.dev/renewed-at=2020-01-01T00:00:00Z",
        );
      await eventually(TIMEOUT, () =>
        apis.every((api, index) => {
          const now = podsOf(rig, api);
          return now.length > 0 && now.every((name) => !pods[index]?.includes(name));
        }),
      );
      await eventually(TIMEOUT, () => statusOf(rig).phase === "Ready");
    };
    const keystone = { url: `${inside("keystone-api")}/v3`, perSecond: 30, trust: trustOf("keystone-api") };
    const placement = {
      url: `${inside("placement-api")}/resource_providers`,
      perSecond: 10,
      token,
      trust: trustOf("placement-api"),
    };
    let second: Awaited<ReturnType<typeof underLoad>> | undefined;
    const first = await underLoad(rig, keystone, [
      "certificates of Keystone, Glance and Placement are renewed",
      async () => {
        second = await underLoad(rig, placement, ["the same, at Placement, with tokens", rotate]);
      },
    ]);
    expect([...first.examples, ...(second?.examples ?? [])]).toEqual([]);
    expect(first.sent).toBeGreaterThan(300);
    for (const [index, api] of apis.entries()) {
      expect(serial(api)).not.toBe(before[index]);
      expect(await served(api)).toBe(serial(api));
    }
  });
});
