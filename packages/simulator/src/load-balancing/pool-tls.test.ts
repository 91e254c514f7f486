import { expect, test } from "vitest";
import { neutron, place } from "../network/testing.ts";
import { balancerCloud, octavia, settle } from "./testing.ts";

test("a pool that speaks TLS has its ALPN protocols, versions and ciphers, or the defaults", async () => {
  const cloud = balancerCloud();
  const call = octavia(cloud, "demo");
  const { subnet } = await place(neutron(cloud, "demo"));
  const given = { name: "lb", vip_subnet_id: subnet, provider: "amphora" };
  const { id } = await call("POST", "/loadbalancers", { loadbalancer: given });
  await settle();
  const pool = { loadbalancer_id: id, protocol: "HTTP", lb_algorithm: "ROUND_ROBIN" };
  const make = async (more: object) => {
    const made = await call("POST", "/pools", { pool: { ...pool, ...more } });
    await settle();
    return made;
  };
  expect((await make({})).one).toMatchObject({ alpn_protocols: null, tls_versions: null, tls_ciphers: null });
  const secured = await make({ tls_enabled: true });
  expect(secured.one).toMatchObject({
    alpn_protocols: ["h2", "http/1.1", "http/1.0"],
    tls_versions: ["TLSv1.2", "TLSv1.3"],
  });
  const own = await make({ tls_enabled: true, alpn_protocols: ["http/1.1"], tls_versions: ["TLSv1.3"] });
  expect(own.one).toMatchObject({ alpn_protocols: ["http/1.1"], tls_versions: ["TLSv1.3"] });
  const changed = await call("PUT", `/pools/${own.id}`, { pool: { alpn_protocols: ["h2"] } });
  expect(changed.one).toMatchObject({ alpn_protocols: ["h2"], tls_versions: ["TLSv1.3"] });
  await settle();
  const wrong = await make({ tls_enabled: true, alpn_protocols: ["http/0.9"] });
  expect(wrong).toMatchObject({ status: 400, fault: "Validation failure: Invalid ALPN protocol: http/0.9" });
  expect((await make({ tls_enabled: true, alpn_protocols: [] })).status).toBe(400);
});
