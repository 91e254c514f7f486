import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { OpenStackDeploymentSpec } from "@causeway/api";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { resolveCatalogue } from "../catalogue/index.ts";
import { completed } from "../credentials/new-values.ts";
import { succeeds } from "../testing/commands.ts";
import { fabricFiles } from "./fabric.ts";

const programs = join(import.meta.dirname, "../../programs");
let folder = "";
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "causeway-fabric-"))));
afterEach(() => rmSync(folder, { recursive: true }));

const racks = ["rack1", "rack2"].map((name, index) => ({
  name,
  nodeSelector: { rack: name },
  roles: ["Control" as const, "Network" as const, "Compute" as const],
  physicalNetworks: [{ name, bridge: `br-${name}`, interface: `eth${index}` }],
}));
const segments = racks.map(({ name }, index) => ({
  physicalNetwork: name,
  vlan: 101 + index,
  cidr: `203.0.113.${index * 64}/26`,
  ...(index === 0 ? { gateway: "203.0.113.62", firstAddress: "203.0.113.2", lastAddress: "203.0.113.30" } : {}),
}));

function filesOf(network: OpenStackDeploymentSpec["network"]) {
  const spec: OpenStackDeploymentSpec = {
    release: "2025.1",
    region: "RegionOne",
    domain: "cloud.example.org",
    nodeGroups: racks,
    ...(network ? { network } : {}),
  };
  const catalogue = resolveCatalogue(spec);
  const credentials = completed({ generation: 0, accounts: [0], values: {} }, catalogue.components);
  return fabricFiles({ name: "cloud", namespace: "openstack", spec, catalogue, credentials, replicas: () => 1 });
}

test("BGP and EVPN are one field each, and nothing is written without them", () => {
  expect(filesOf(undefined)).toEqual({});
  const bgp = { asn: 4_200_000_001, peers: ["eth4", "192.0.2.1", "2001:db8::1"] };
  const { "frr.conf": plain = "", "bgp-agent.conf": agent = "" } = filesOf({ bgp });
  expect(plain).toContain("router bgp 4200000001\n");
  expect(plain).toContain(" neighbor eth4 interface peer-group leaves\n neighbor 192.0.2.1 peer-group leaves\n");
  expect(plain).toContain("ip prefix-list hosts4 seq 5 permit 0.0.0.0/0 ge 32\n");
  expect(plain).not.toContain("evpn");
  expect(agent).toContain("exposing_method = underlay\n");
  expect(agent).toContain("tcp:cloud-ovn-nb-0.cloud-ovn-nb-members.openstack.svc.cluster.local:6641\n");
  const { "frr.conf": vpn = "", "bgp-agent.conf": typed = "" } = filesOf({ bgp, evpn: { interface: "lo" } });
  expect(vpn).toContain("address-family l2vpn evpn\n  neighbor leaves activate\n  advertise-all-vni\n");
  expect(typed).toMatch(/^evpn_nic = lo$/m);
  expect(typed).toMatch(/^exposing_method = vrf$/m);
});

test("a segment on a rack that no node is in is refused with what to do", () => {
  const network = { providerNetworks: [{ name: "fabric", segments: [{ ...segments[0]!, physicalNetwork: "rack9" }] }] };
  expect(() => filesOf(network)).toThrow(/segment on rack9, which no group of nodes reaches/);
});

describe.skipIf(!succeeds("vtysh", "--help"))("FRR itself", () => {
  test("accepts the file", () => {
    const network = { bgp: { asn: 64_512, peers: ["eth4", "192.0.2.1"] }, evpn: { interface: "lo" } };
    const text = filesOf(network)["frr.conf"]?.replace("@ADDRESS@", "192.0.2.9").replace("@NODE@", "node") ?? "";
    writeFileSync(join(folder, "frr.conf"), text);
    const checked = spawnSync("vtysh", ["--config_dir", folder, "--dryrun"], { encoding: "utf8" });
    expect(`${checked.stdout}${checked.stderr}`).not.toMatch(/unknown|error|%/i);
    expect(checked.status).toBe(0);
  });
});

describe("the check of a node", () => {
  /** What it says, and its status; undefined: it passed and remains. */
  function check(environment: Record<string, string>): { status: number | null; said: string } | undefined {
    const log = join(folder, "termination");
    const env = { PATH: process.env["PATH"], TMPDIR: folder, TERMINATION_LOG: log, NODE_NAME: "node", ...environment };
    // It remains once it has passed: what it waits with ends it here.
    const script = `sleep() { :; }; wait() { exit 0; }; . ${join(programs, "preflight.sh")}`;
    const { status } = spawnSync("/bin/sh", ["-c", script], { env, timeout: 20_000 });
    if (existsSync(join(folder, "passed"))) return undefined;
    return { status, said: existsSync(log) ? readFileSync(log, "utf8") : "" };
  }

  test("passes a host that has all that is required of it", () => {
    expect(
      check({ INTERFACES: "lo", FABRIC_INTERFACES: "lo", FABRIC_MTU: "9000", SHARED_STATE: folder }),
    ).toBeUndefined();
    expect(check({})).toBeUndefined();
  });

  test.each<[string, Record<string, string>, string]>([
    ["an interface", { INTERFACES: "lo nothere0" }, "there is no interface nothere0"],
    [
      "an MTU",
      { FABRIC_INTERFACES: "lo", FABRIC_MTU: "99999" },
      "interface lo has an MTU of 65536, and spec.network.mtu is 99999",
    ],
    ["a module", { MODULES: "no_such_module" }, "the kernel has no module no_such_module"],
    ["a file of Ceph", { CEPH_FILES: "no-such.keyring" }, "spec.storage.ceph has no no-such.keyring"],
    ["a claim that can be written", { SHARED_STATE: "/no/such/folder" }, "serverStateClaim cannot be written"],
  ])("ends in words without %s", (_what, environment, words) => {
    const found = check(environment);
    expect(found?.status).toBe(1);
    expect(found?.said).toContain(words);
  });
});

/** Keystone's tokens, and Neutron's lists and creations. A provider network has a segment from the start. */
class PlayedNeutron {
  readonly made: Record<string, Record<string, unknown>[]> = {};
  /** Creations after which it breaks off. */
  left = Infinity;
  readonly server = createServer((incoming, response) => {
    void this.#respond(incoming).then(([status, body]) => {
      response.writeHead(status, { "X-Subject-Token": "token" }).end(JSON.stringify(body));
    });
  });

  #add(kind: string, fields: Record<string, unknown>): Record<string, unknown> {
    const all = (this.made[kind] ??= []);
    const made = { id: `${kind}-${all.length}`, ...fields };
    all.push(made);
    return made;
  }

  async #respond(incoming: IncomingMessage): Promise<[number, unknown]> {
    const { pathname, searchParams } = new URL(incoming.url ?? "", "http://neutron");
    const text = (await incoming.toArray()).join("");
    if (pathname.endsWith("/auth/tokens")) return [201, {}];
    const kind = pathname.split("/").at(-1) ?? "";
    if (incoming.method === "GET") {
      const isMeant = (each: Record<string, unknown>) => [...searchParams].every(([key, value]) => each[key] === value);
      return [200, { [kind]: (this.made[kind] ?? []).filter(isMeant) }];
    }
    if (this.left-- <= 0) return [503, {}];
    const fields = (JSON.parse(text) as Record<string, Record<string, unknown>>)[kind.slice(0, -1)] ?? {};
    const made = this.#add(kind, fields);
    if (kind === "networks")
      this.#add("segments", {
        network_id: made["id"],
        network_type: "vlan",
        physical_network: fields["provider:physical_network"],
        segmentation_id: fields["provider:segmentation_id"],
      });
    return [201, { [kind.slice(0, -1)]: made }];
  }
}

describe.skipIf(!succeeds("python3", "-c", ""))("the provider networks of a fabric", () => {
  const neutron = new PlayedNeutron();

  async function run(): Promise<number | null> {
    const { port } = neutron.server.address() as AddressInfo;
    const { "provider-networks.json": text = "{}" } = filesOf({ providerNetworks: [{ name: "fabric", segments }] });
    const url = `http://127.0.0.1:${port}`;
    const wanted = { ...(JSON.parse(text) as object), keystone: `${url}/v3`, neutron: url };
    writeFileSync(join(folder, "wanted.json"), JSON.stringify(wanted));
    writeFileSync(join(folder, "keystone.admin"), "password");
    const env = { ...process.env, CREDENTIALS: folder };
    const child = spawn("python3", [join(programs, "provider-networks.py"), join(folder, "wanted.json")], {
      env,
      stdio: "ignore",
    });
    return (await once(child, "exit"))[0] as number | null;
  }

  test("have one segment with its VLAN and subnet for each rack, once, also when the Job ends in between", async () => {
    neutron.server.listen(0, "127.0.0.1");
    await once(neutron.server, "listening");
    try {
      for (neutron.left = 1; (await run()) !== 0; neutron.left = 1);
      neutron.left = 0;
      expect(await run()).toBe(0);
    } finally {
      neutron.server.close();
    }
    const { networks = [], segments: racksMade = [], subnets = [] } = neutron.made;
    expect(networks).toMatchObject([{ name: "fabric", "router:external": true, shared: false }]);
    expect(racksMade.map((each) => [each["physical_network"], each["segmentation_id"]])).toEqual([
      ["rack1", 101],
      ["rack2", 102],
    ]);
    expect(subnets).toMatchObject([
      {
        cidr: "203.0.113.0/26",
        segment_id: "segments-0",
        gateway_ip: "203.0.113.62",
        allocation_pools: [{ start: "203.0.113.2", end: "203.0.113.30" }],
      },
      { cidr: "203.0.113.64/26", segment_id: "segments-1" },
    ]);
  });
});
