import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ApiServer } from "../../interface.ts";
import { at, records, text, type Json } from "../../json/json.ts";
import { startApiServer } from "../../start.ts";
import { rawClient, type Raw } from "../../testing/client.ts";
import { serviceNetwork, serviceNetworks } from "./addresses.ts";

const SERVICES = "/api/v1/namespaces/default/services";
let server: ApiServer;
let api: Raw;

beforeAll(async () => {
  server = await startApiServer();
  const cluster = await server.ensureCluster("dual", { serviceCidr: "10.96.0.0/16,fd00:10:96::/112" });
  api = await rawClient(cluster);
});
afterAll(async () => {
  api.close();
  await server.close();
});

let count = 0;
async function create(spec: Json): Promise<{ name: string; code: number; spec: Json; message: unknown }> {
  const name = `s${(count += 1)}`;
  const body = { apiVersion: "v1", kind: "Service", metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } };
  const made = await api.call("POST", SERVICES, body);
  return { name, code: made.code, spec: shown(made.body), message: made.body["message"] };
}

/** Policy, families, and addresses by family. */
function shown(body: Json): Json {
  const ips = (at(body, "spec", "clusterIPs") as string[] | undefined) ?? [];
  return {
    policy: at(body, "spec", "ipFamilyPolicy"),
    families: at(body, "spec", "ipFamilies"),
    ips: ips.map((ip) => (ip.startsWith("fd00:10:96::") ? "6" : ip.startsWith("10.96.") ? "4" : ip)),
  };
}

const single = { policy: "SingleStack", families: ["IPv4"], ips: ["4"] };

/** What is requested and what comes of it; kube-apiserver 1.34 with the same networks answers the same. */
const MADE: readonly (readonly [string, Json, Json])[] = [
  ["nothing", {}, single],
  [
    "to prefer two",
    { ipFamilyPolicy: "PreferDualStack" },
    { policy: "PreferDualStack", families: ["IPv4", "IPv6"], ips: ["4", "6"] },
  ],
  [
    "to have two",
    { ipFamilyPolicy: "RequireDualStack" },
    { policy: "RequireDualStack", families: ["IPv4", "IPv6"], ips: ["4", "6"] },
  ],
  ["IPv6", { ipFamilies: ["IPv6"] }, { policy: "SingleStack", families: ["IPv6"], ips: ["6"] }],
  [
    "IPv6 first",
    { ipFamilies: ["IPv6", "IPv4"], ipFamilyPolicy: "RequireDualStack" },
    { policy: "RequireDualStack", families: ["IPv6", "IPv4"], ips: ["6", "4"] },
  ],
  ["an IPv6 address", { clusterIP: "fd00:10:96::55" }, { policy: "SingleStack", families: ["IPv6"], ips: ["6"] }],
  [
    "an address and the other family",
    { clusterIP: "10.96.0.79", ipFamilyPolicy: "PreferDualStack" },
    { policy: "PreferDualStack", families: ["IPv4", "IPv6"], ips: ["4", "6"] },
  ],
  ["no address", { clusterIP: "None" }, { policy: "RequireDualStack", families: ["IPv4", "IPv6"], ips: ["None"] }],
  [
    "no address, in one family",
    { clusterIP: "None", ipFamilyPolicy: "SingleStack" },
    { policy: "SingleStack", families: ["IPv4"], ips: ["None"] },
  ],
];

describe("a new Service of a cluster with two families", () => {
  test.each(MADE)("that asks for %s", async (_what, spec, expected) => {
    expect(await create(spec)).toMatchObject({ code: 201, spec: expected });
  });

  test("names two families only with a policy for two", async () => {
    const { code, message } = await create({ ipFamilies: ["IPv6", "IPv4"] });
    expect(code).toBe(422);
    expect(message).toContain(
      "must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified",
    );
  });

  test("gains a second address, keeps it, and releases it for SingleStack", async () => {
    const { name } = await create({});
    const patch = async (spec: Json) => {
      const headers = { "content-type": "application/merge-patch+json" };
      return api.call("PATCH", `${SERVICES}/${name}`, { spec }, headers);
    };
    const both = await patch({ ipFamilyPolicy: "PreferDualStack" });
    expect(shown(both.body)["ips"]).toEqual(["4", "6"]);
    const [first, second] = at(both.body, "spec", "clusterIPs") as string[];
    const addresses = async (): Promise<unknown[]> => {
      const { body } = await api.call("GET", "/apis/networking.k8s.io/v1/ipaddresses");
      const own = records(body["items"]).filter((a) => at(a, "spec", "parentRef", "name") === name);
      return own.map((a) => text(at(a, "metadata", "name"))).toSorted();
    };
    expect(await addresses()).toEqual([String(first), String(second)].toSorted());
    const fewer = await patch({ clusterIPs: [first] });
    expect(fewer.body["message"]).toContain("must be 'SingleStack' to release the secondary cluster IP");
    expect(shown((await patch({ ipFamilyPolicy: "SingleStack" })).body)).toEqual(single);
    expect(await addresses()).toEqual([first]);
    const other = await create({ clusterIP: second });
    expect(other.code).toBe(201);
  });

  test("has no address of a network that is not the cluster's", async () => {
    const { code, message } = await create({ clusterIP: "fd00:10:97::1" });
    expect(code).toBe(422);
    expect(message).toContain("the provided network does not match the current range");
  });
});

describe("the service networks of an API server", () => {
  test.each([
    ["10.0.0.0/29", 6, "10.0.0.1", "10.0.0.6", "10.0.0.7"],
    ["fd00::/126", 3, "fd00::1", "fd00::3", "fd00::4"],
  ])("may be as small as %s", (cidr, size, first, last, outside) => {
    const network = serviceNetwork(cidr);
    expect([network.size, network.address(1), network.has(last), network.has(outside)]).toEqual([
      size,
      first,
      true,
      false,
    ]);
  });
  test.each([
    "10.0.0.0/7",
    "10.0.0.0/31",
    "fd00::/63",
    "fd00::/127",
    "x",
    "10.0.0.0/8,10.1.0.0/16",
    "fd00::/64,10.0.0.0/8,fd01::/64",
  ])("%s are refused", (cidrs) => {
    expect(() => serviceNetworks(cidrs)).toThrow("service network");
  });
});
